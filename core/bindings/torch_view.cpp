// See torch_view.h. Everything here runs with the GIL held.
#include "core/bindings/torch_view.h"

#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "core/base/error.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

PyObject* interned(const char* name) { return PyUnicode_InternFromString(name); }

// What is looked up once. References are kept for ever: torch cannot be unloaded.
struct Torch {
  PyObject* tensor = nullptr;
  PyObject* parameter = nullptr;
  std::array<PyObject*, kNumDtypes> dtypes{};  // null: this torch has none of that name
  PyObject *is_cpu = interned("is_cpu"), *dtype = interned("dtype"), *numel = interned("numel"),
           *is_contiguous = interned("is_contiguous"), *is_conj = interned("is_conj"), *data_ptr = interned("data_ptr");
};

PyObject* attribute_or_null(const nb::handle& object, const char* name) {
  PyObject* found = PyObject_GetAttrString(object.ptr(), name);
  if (!found) PyErr_Clear();
  return found;
}

// Null while no torch is imported (or only half of it, by another thread).
const Torch* torch() {
  static Torch* known = nullptr;
  if (known) return known;
  const nb::object name = nb::steal(interned("torch"));
  const nb::object module = nb::steal(PyImport_GetModule(name.ptr()));
  if (!module.is_valid()) {
    PyErr_Clear();
    return nullptr;
  }
  const nb::object nn = nb::steal(attribute_or_null(module, "nn"));
  PyObject* const tensor = attribute_or_null(module, "Tensor");
  PyObject* const parameter = nn.is_valid() ? attribute_or_null(nn, "Parameter") : nullptr;
  if (!tensor || !parameter) return nullptr;
  auto* found = new Torch;
  found->tensor = tensor;
  found->parameter = parameter;
  for (Dtype dtype : kDtypes) found->dtypes[static_cast<size_t>(dtype)] = attribute_or_null(module, dtype_name(dtype));
  return known = found;
}

// A tensor that cannot be asked, as those inside torch.func.vmap, says why itself.
nb::object require(PyObject* answer, const char* what) {
  if (answer) return nb::steal(answer);
  const nb::python_error error;
  throw UsageError(std::string(what) + " is not a plain tensor: " + nb::cast<std::string>(nb::str(error.value())));
}

Dtype dtype_of(const Torch& torch, const nb::object& dtype, const char* what) {
  for (size_t i = 0; i < torch.dtypes.size(); ++i)
    if (torch.dtypes[i] == dtype.ptr()) return static_cast<Dtype>(i);
  throw UsageError(std::string(what) + " has a dtype that ringtree does not move (" +
                   nb::cast<std::string>(nb::str(dtype)) + ")");
}

bool is_complex(Dtype dtype) {
  return dtype == Dtype::kComplex32 || dtype == Dtype::kComplex64 || dtype == Dtype::kComplex128;
}

}  // namespace

std::optional<ArrayView> view_tensor(const nb::handle& object, const char* what) {
  const Torch* const known = torch();
  if (!known) return std::nullopt;
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  if (type != known->tensor && type != known->parameter) return std::nullopt;
  const auto get = [&](PyObject* name) { return require(PyObject_GetAttr(object.ptr(), name), what); };
  const auto ask = [&](PyObject* name) { return require(PyObject_CallMethodNoArgs(object.ptr(), name), what); };

  if (get(known->is_cpu).ptr() != Py_True) throw UsageError(std::string(what) + " is not in CPU memory");
  ArrayView view;
  view.dtype = dtype_of(*known, get(known->dtype), what);
  if (ask(known->is_contiguous).ptr() != Py_True)
    throw UsageError(std::string(what) + " is not contiguous; pass a contiguous copy and copy the result back");
  if (is_complex(view.dtype) && ask(known->is_conj).ptr() == Py_True)
    throw UsageError(std::string(what) + " is conjugated lazily; pass x.resolve_conj()");
  view.count = PyLong_AsSize_t(ask(known->numel).ptr());
  view.data = PyLong_AsVoidPtr(ask(known->data_ptr).ptr());
  view.owner = nb::borrow(object);
  return view;
}

}  // namespace ringtree::bindings
