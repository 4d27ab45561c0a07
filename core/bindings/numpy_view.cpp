// See numpy_view.h. Everything here runs with the GIL held.
#include "core/bindings/numpy_view.h"

#include <cstring>

#include "core/bindings/imported.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

// PyArrayInterface, as https://numpy.org/doc/stable/reference/arrays.interface.html has it.
struct ArrayStruct {
  int two;
  int ndim;
  char kind;
  int item_bytes;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
  PyObject* description;
};

constexpr int kContiguous = 0x1;  // in the order of C
constexpr int kNativeOrder = 0x200;
constexpr int kWritable = 0x400;

struct Row {
  char kind;
  int item_bytes;
  Dtype dtype;
};

// The first rows are what is asked most.
constexpr Row kRows[] = {{'f', 4, Dtype::kFloat32},   {'f', 8, Dtype::kFloat64},    {'f', 2, Dtype::kFloat16},
                         {'i', 1, Dtype::kInt8},      {'i', 2, Dtype::kInt16},      {'i', 4, Dtype::kInt32},
                         {'i', 8, Dtype::kInt64},     {'u', 1, Dtype::kUint8},      {'u', 2, Dtype::kUint16},
                         {'u', 4, Dtype::kUint32},    {'u', 8, Dtype::kUint64},     {'b', 1, Dtype::kBool},
                         {'c', 8, Dtype::kComplex64}, {'c', 16, Dtype::kComplex128}};

std::optional<Dtype> dtype_of(const ArrayStruct& array) {
  for (const Row& row : kRows)
    if (row.kind == array.kind && row.item_bytes == array.item_bytes) return row.dtype;
  return std::nullopt;
}

// numpy.ndarray, kept for ever: NumPy cannot be unloaded. Null while it is not there.
PyObject* array_type() {
  static PyObject* known = nullptr;
  if (known) return known;
  const nb::object module = imported_module("numpy");
  return known = module.is_valid() ? attribute_or_null(module, "ndarray") : nullptr;
}

}  // namespace

std::optional<ArrayView> view_numpy(const nb::handle& object, bool written) {
  PyTypeObject* const type = Py_TYPE(object.ptr());
  if (std::strcmp(type->tp_name, "numpy.ndarray") != 0 || reinterpret_cast<PyObject*>(type) != array_type())
    return std::nullopt;
  static PyObject* const name = PyUnicode_InternFromString("__array_struct__");
  const nb::object capsule = nb::steal(PyObject_GetAttr(object.ptr(), name));
  const auto* const array =
      static_cast<const ArrayStruct*>(capsule.is_valid() ? PyCapsule_GetPointer(capsule.ptr(), nullptr) : nullptr);
  if (!array) {
    PyErr_Clear();
    return std::nullopt;
  }
  const int wanted = kContiguous | kNativeOrder | (written ? kWritable : 0);
  const std::optional<Dtype> dtype = dtype_of(*array);
  if (array->two != 2 || (array->flags & wanted) != wanted || !dtype) return std::nullopt;
  size_t count = 1;
  for (int i = 0; i < array->ndim; ++i) count *= static_cast<size_t>(array->shape[i]);
  return ArrayView{array->data, count, *dtype};
}

}  // namespace ringtree::bindings
