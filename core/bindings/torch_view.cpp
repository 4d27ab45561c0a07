// See torch_view.h. Everything here runs with the GIL held.
#include "core/bindings/torch_view.h"

#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "core/base/error.h"
#include "core/bindings/dlpack.h"
#include "core/bindings/imported.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

PyObject* interned(const char* name) { return PyUnicode_InternFromString(name); }

// What is looked up once. References are kept for ever: torch cannot be unloaded.
struct Torch {
  PyObject* tensor = nullptr;
  PyObject* parameter = nullptr;
  std::array<PyObject*, kNumDtypes> dtypes{};  // null: this torch has none of that name
  dlpack::ViewObject view = nullptr;           // null: this torch has no DLPack for C
  PyObject *is_cpu = interned("is_cpu"), *dtype = interned("dtype"), *numel = interned("numel"),
           *is_contiguous = interned("is_contiguous"), *is_conj = interned("is_conj"), *is_neg = interned("is_neg"),
           *data_ptr = interned("data_ptr");
};

dlpack::ViewObject exchange_of(const nb::handle& tensor) {
  const nb::object capsule = nb::steal(attribute_or_null(tensor, dlpack::kExchangeAttribute));
  if (!capsule.is_valid()) return nullptr;
  const auto* api =
      static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::kExchangeCapsule));
  if (!api) PyErr_Clear();
  while (api && api->major != dlpack::kMajorVersion) api = api->older;
  return api ? api->view_object : nullptr;
}

// Null while no torch is imported (or only half of it, by another thread).
const Torch* torch() {
  static Torch* known = nullptr;
  if (known) return known;
  const nb::object module = imported_module("torch");
  if (!module.is_valid()) return nullptr;
  const nb::object nn = nb::steal(attribute_or_null(module, "nn"));
  PyObject* const tensor = attribute_or_null(module, "Tensor");
  PyObject* const parameter = nn.is_valid() ? attribute_or_null(nn, "Parameter") : nullptr;
  if (!tensor || !parameter) return nullptr;
  auto* found = new Torch;
  found->tensor = tensor;
  found->parameter = parameter;
  found->view = exchange_of(tensor);
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
  throw UsageError(std::string(what) + " has an unsupported dtype (" + nb::cast<std::string>(nb::str(dtype)) + ")");
}

bool is_complex(Dtype dtype) {
  return dtype == Dtype::kComplex32 || dtype == Dtype::kComplex64 || dtype == Dtype::kComplex128;
}

// None where the tensor is not plain or may not be: who asks it by other ways learns why.
std::optional<ArrayView> view_at_once(const Torch& torch, const nb::handle& object) {
  dlpack::Tensor tensor;
  if (!torch.view) return std::nullopt;
  if (torch.view(object.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  const auto ndim = static_cast<size_t>(tensor.ndim);
  const std::optional<Dtype> dtype = dlpack::dtype_of(tensor.dtype);
  if (tensor.device_type != dlpack::kCpu || !dtype || is_complex(*dtype) ||
      !dlpack::is_contiguous(ndim, tensor.shape, tensor.strides))
    return std::nullopt;
  // DLPack cannot say that the elements stand for their negatives, as those of x.conj().imag do.
  const nb::object negated = nb::steal(PyObject_CallMethodNoArgs(object.ptr(), torch.is_neg));
  if (negated.ptr() != Py_False) {
    PyErr_Clear();
    return std::nullopt;
  }
  return ArrayView{static_cast<std::byte*>(tensor.data) + tensor.byte_offset, dlpack::num_elements(ndim, tensor.shape),
                   *dtype};
}

ArrayView ask(const Torch& torch, const nb::handle& object, const char* what) {
  const auto get = [&](PyObject* name) { return require(PyObject_GetAttr(object.ptr(), name), what); };
  const auto call = [&](PyObject* name) { return require(PyObject_CallMethodNoArgs(object.ptr(), name), what); };

  if (get(torch.is_cpu).ptr() != Py_True) throw UsageError(std::string(what) + " is not in CPU memory");
  ArrayView view;
  view.dtype = dtype_of(torch, get(torch.dtype), what);
  if (call(torch.is_contiguous).ptr() != Py_True)
    throw UsageError(std::string(what) + " is not contiguous; pass a contiguous copy and copy the result back");
  if (is_complex(view.dtype) && call(torch.is_conj).ptr() == Py_True)
    throw UsageError(std::string(what) + " is conjugated lazily; pass x.resolve_conj()");
  if (call(torch.is_neg).ptr() == Py_True)
    throw UsageError(std::string(what) + " is negated lazily; pass x.resolve_neg()");
  view.count = PyLong_AsSize_t(call(torch.numel).ptr());
  view.data = PyLong_AsVoidPtr(call(torch.data_ptr).ptr());
  return view;
}

PyObject* function_of(const nb::handle& type, const char* name) {
  const nb::object found = nb::steal(attribute_or_null(type, name));
  if (!found.is_valid() || !PyMethod_Check(found.ptr())) return found.ptr();  // its type keeps it alive
  return PyMethod_GET_FUNCTION(found.ptr());                                  // of a class method, bound anew each time
}

// Whether a subclass changes none of the ways by which a tensor's elements are reached, so that they are where a
// Tensor's are. Of the type that was asked about last the answer is remembered.
bool is_plain_subclass(const Torch& torch, PyTypeObject* type) {
  static nb::object& last = *new nb::object;  // keeps the type, so that no other gets its address; never destroyed
  static bool last_is_plain = false;
  auto* const as_object = reinterpret_cast<PyObject*>(type);
  if (last.ptr() == as_object) return last_is_plain;
  bool plain = PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(torch.tensor)) != 0;
  if (!plain) return false;  // not remembered, so as not to keep types that have nothing to do with torch
  for (const char* name : {"__torch_function__", "__torch_dispatch__", "__dlpack__", "__dlpack_device__", "data_ptr"})
    plain = plain && function_of(as_object, name) == function_of(torch.tensor, name);
  last_is_plain = plain;
  last = nb::borrow(as_object);
  return plain;
}

}  // namespace

std::optional<ArrayView> view_tensor(const nb::handle& object, const char* what) {
  const Torch* const known = torch();
  if (!known) return std::nullopt;
  PyTypeObject* const type = Py_TYPE(object.ptr());
  auto* const as_object = reinterpret_cast<PyObject*>(type);
  const bool own = as_object == known->tensor || as_object == known->parameter;
  if (!own && !is_plain_subclass(*known, type)) return std::nullopt;
  if (const auto view = view_at_once(*known, object)) return view;
  if (!own) return std::nullopt;  // its capsule is asked
  return ask(*known, object, what);
}

}  // namespace ringtree::bindings
