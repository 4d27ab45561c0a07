// See dlpack.h.
#include "core/bindings/dlpack.h"

#include <nanobind/ndarray.h>

#include <array>

namespace ringtree::bindings::dlpack {
namespace {

using Code = nanobind::dlpack::dtype_code;

struct Row {
  Code code;
  uint8_t bits;
  Dtype dtype;
};

// The first rows are what is asked most.
constexpr Row kRows[] = {{Code::Float, 32, Dtype::kFloat32},
                         {Code::Bfloat, 16, Dtype::kBfloat16},
                         {Code::Float, 64, Dtype::kFloat64},
                         {Code::Float, 16, Dtype::kFloat16},
                         {Code::Int, 8, Dtype::kInt8},
                         {Code::Int, 16, Dtype::kInt16},
                         {Code::Int, 32, Dtype::kInt32},
                         {Code::Int, 64, Dtype::kInt64},
                         {Code::UInt, 8, Dtype::kUint8},
                         {Code::UInt, 16, Dtype::kUint16},
                         {Code::UInt, 32, Dtype::kUint32},
                         {Code::UInt, 64, Dtype::kUint64},
                         {Code::Complex, 32, Dtype::kComplex32},
                         {Code::Complex, 64, Dtype::kComplex64},
                         {Code::Complex, 128, Dtype::kComplex128},
                         {Code::Bool, 8, Dtype::kBool},
                         {Code::Float8_E4M3FN, 8, Dtype::kFloat8E4m3fn},
                         {Code::Float8_E4M3FNUZ, 8, Dtype::kFloat8E4m3fnuz},
                         {Code::Float8_E5M2, 8, Dtype::kFloat8E5m2},
                         {Code::Float8_E5M2FNUZ, 8, Dtype::kFloat8E5m2fnuz},
                         {Code::Float8_E8M0FNU, 8, Dtype::kFloat8E8m0fnu}};

}  // namespace

std::optional<Dtype> dtype_of(DataType type) {
  for (const Row& row : kRows)
    if (static_cast<uint8_t>(row.code) == type.code && row.bits == type.bits && type.lanes == 1) return row.dtype;
  return std::nullopt;
}

bool is_contiguous(size_t ndim, const int64_t* shape, const int64_t* strides) {
  int64_t expected = 1;
  for (size_t i = ndim; i-- > 0;) {
    if (shape[i] > 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

size_t num_elements(size_t ndim, const int64_t* shape) {
  size_t count = 1;
  for (size_t i = 0; i < ndim; ++i) count *= static_cast<size_t>(shape[i]);
  return count;
}

}  // namespace ringtree::bindings::dlpack
