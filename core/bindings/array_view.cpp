// See array_view.h.
#include "core/bindings/array_view.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/bindings/torch_view.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

using Code = nb::dlpack::dtype_code;

struct Row {
  Code code;
  uint8_t bits;
  Dtype dtype;
};

constexpr Row kRows[] = {{Code::Int, 8, Dtype::kInt8},
                         {Code::Int, 16, Dtype::kInt16},
                         {Code::Int, 32, Dtype::kInt32},
                         {Code::Int, 64, Dtype::kInt64},
                         {Code::UInt, 8, Dtype::kUint8},
                         {Code::UInt, 16, Dtype::kUint16},
                         {Code::UInt, 32, Dtype::kUint32},
                         {Code::UInt, 64, Dtype::kUint64},
                         {Code::Float, 16, Dtype::kFloat16},
                         {Code::Float, 32, Dtype::kFloat32},
                         {Code::Float, 64, Dtype::kFloat64},
                         {Code::Bfloat, 16, Dtype::kBfloat16},
                         {Code::Complex, 32, Dtype::kComplex32},
                         {Code::Complex, 64, Dtype::kComplex64},
                         {Code::Complex, 128, Dtype::kComplex128},
                         {Code::Bool, 8, Dtype::kBool},
                         {Code::Float8_E4M3FN, 8, Dtype::kFloat8E4m3fn},
                         {Code::Float8_E4M3FNUZ, 8, Dtype::kFloat8E4m3fnuz},
                         {Code::Float8_E5M2, 8, Dtype::kFloat8E5m2},
                         {Code::Float8_E5M2FNUZ, 8, Dtype::kFloat8E5m2fnuz},
                         {Code::Float8_E8M0FNU, 8, Dtype::kFloat8E8m0fnu}};

std::optional<Dtype> dtype_of(nb::dlpack::dtype type) {
  for (const Row& row : kRows)
    if (static_cast<uint8_t>(row.code) == type.code && row.bits == type.bits && type.lanes == 1) return row.dtype;
  return std::nullopt;
}

template <typename Array>
ArrayView view(const Array& array, const nb::handle& object, const char* what) {
  if (array.device_type() != nb::device::cpu::value) throw UsageError(std::string(what) + " is not in CPU memory");
  int64_t expected = 1;
  for (size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) > 1 && array.stride(i) != expected)
      throw UsageError(std::string(what) + " is not contiguous; pass a contiguous copy and copy the result back");
    expected *= static_cast<int64_t>(array.shape(i));
  }
  const std::optional<Dtype> dtype = dtype_of(array.dtype());
  if (!dtype)
    throw UsageError(std::string(what) + " has a dtype that ringtree does not move (DLPack code " +
                     std::to_string(array.dtype().code) + ", " + std::to_string(array.dtype().bits) + " bits)");
  return {const_cast<void*>(static_cast<const void*>(array.data())), array.size(), *dtype, nb::borrow(object)};
}

}  // namespace

ArrayView view_array(const nb::handle& object, const char* what, bool written) {
  if (auto tensor = view_tensor(object, what)) return *std::move(tensor);
  nb::ndarray<> writable;
  if (nb::try_cast(object, writable)) return view(writable, object, what);
  nb::ndarray<nb::ro> readable;
  if (nb::try_cast(object, readable)) {
    if (written) throw UsageError(std::string(what) + " is read-only");
    return view(readable, object, what);
  }
  const std::string type =
      nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__")));
  throw UsageError(std::string(what) + " must be a NumPy array or a CPU tensor, not " + type);
}

}  // namespace ringtree::bindings
