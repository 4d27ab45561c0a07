// See numpy_view.h. Everything here runs with the GIL held.
#include "core/bindings/numpy_view.h"

#include <array>
#include <bit>
#include <cstring>

#include "core/bindings/imported.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

// The first fields of PyArray_Descr and of PyArrayObject_fields (numpy/ndarraytypes.h), which are alike in all NumPy of
// the versions below: extensions compiled for one run with the others.
struct Description {
  PyObject head;
  PyTypeObject* scalar;
  char kind, letter, byte_order, former_flags;
  int type_number;
};

struct Array {
  PyObject head;
  void* data;
  int ndim;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  const Description* description;
  int flags;
};

constexpr unsigned kKnownVersions[] = {0x01000009, 0x02000000};  // NPY_ABI_VERSION of NumPy 1 and 2

// NPY_ARRAY_…
constexpr int kContiguous = 0x1;  // in the order of C
constexpr int kWritable = 0x400;

constexpr char kForeignOrder = std::endian::native == std::endian::little ? '>' : '<';

// By NPY_TYPES: C's types, so that some are alike; none: not ringtree's, or longer than what others call so.
constexpr bool kLongIsLong = sizeof(long) == sizeof(int64_t);
constexpr std::array<std::optional<Dtype>, 24> kDtypeOfNumber = {
    Dtype::kBool,
    Dtype::kInt8,
    Dtype::kUint8,
    Dtype::kInt16,
    Dtype::kUint16,
    Dtype::kInt32,
    Dtype::kUint32,
    kLongIsLong ? Dtype::kInt64 : Dtype::kInt32,
    kLongIsLong ? Dtype::kUint64 : Dtype::kUint32,
    Dtype::kInt64,
    Dtype::kUint64,
    Dtype::kFloat32,
    Dtype::kFloat64,
    std::nullopt,  // long double
    Dtype::kComplex64,
    Dtype::kComplex128,
    std::nullopt,  // complex long double
    std::nullopt,  // object, bytes, text, void
    std::nullopt,
    std::nullopt,
    std::nullopt,
    std::nullopt,  // datetime64, timedelta64
    std::nullopt,
    Dtype::kFloat16,
};

// Asks as an extension does that is compiled for NumPy: the first function of the table in its capsule.
bool has_known_layout() {
  for (const char* name : {"numpy._core._multiarray_umath", "numpy.core._multiarray_umath"}) {
    const nb::object module = imported_module(name);
    if (!module.is_valid()) continue;
    const nb::object capsule = nb::steal(attribute_or_null(module, "_ARRAY_API"));
    const void* const* const table =
        capsule.is_valid() ? static_cast<const void* const*>(PyCapsule_GetPointer(capsule.ptr(), nullptr)) : nullptr;
    if (!table) {
      PyErr_Clear();
      return false;
    }
    unsigned (*abi_version)() = nullptr;
    std::memcpy(&abi_version, table, sizeof abi_version);
    for (const unsigned known : kKnownVersions)
      if (abi_version() == known) return true;
    return false;
  }
  return false;
}

// Whether that is numpy.ndarray, as known here. It is kept for ever: NumPy cannot be unloaded.
bool is_array_type(PyTypeObject* type) {
  static PyObject* known = nullptr;  // null while there was no array
  auto* const as_object = reinterpret_cast<PyObject*>(type);
  if (known) return as_object == known;
  if (std::strcmp(type->tp_name, "numpy.ndarray") != 0) return false;
  const nb::object module = imported_module("numpy");
  const nb::object found = nb::steal(module.is_valid() ? attribute_or_null(module, "ndarray") : nullptr);
  if (found.ptr() != as_object || !has_known_layout()) return false;
  known = found.inc_ref().ptr();
  return true;
}

}  // namespace

std::optional<ArrayView> view_numpy(const nb::handle& object, bool written) {
  if (!is_array_type(Py_TYPE(object.ptr()))) return std::nullopt;
  const auto& array = *reinterpret_cast<const Array*>(object.ptr());
  const int wanted = kContiguous | (written ? kWritable : 0);
  if ((array.flags & wanted) != wanted) return std::nullopt;
  const auto number = static_cast<size_t>(array.description->type_number);  // below 0: beyond the table
  if (number >= kDtypeOfNumber.size() || array.description->byte_order == kForeignOrder) return std::nullopt;
  const std::optional<Dtype> dtype = kDtypeOfNumber[number];
  if (!dtype) return std::nullopt;
  size_t count = 1;
  for (int i = 0; i < array.ndim; ++i) count *= static_cast<size_t>(array.shape[i]);
  return ArrayView{array.data, count, *dtype};
}

}  // namespace ringtree::bindings
