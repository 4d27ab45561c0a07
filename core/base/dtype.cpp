// The one table of dtypes: names as PyTorch prints them and sizes in bytes; see dtype.h.
// Not a place for arithmetic: that is core/reduce.
#include "core/base/dtype.h"

namespace ringtree {
namespace {

struct Row {
  Dtype dtype;
  const char* name;
  size_t item_size;
};

constexpr Row kRows[] = {
    {Dtype::kBool, "bool", 1},
    {Dtype::kInt8, "int8", 1},
    {Dtype::kUint8, "uint8", 1},
    {Dtype::kInt16, "int16", 2},
    {Dtype::kUint16, "uint16", 2},
    {Dtype::kInt32, "int32", 4},
    {Dtype::kUint32, "uint32", 4},
    {Dtype::kInt64, "int64", 8},
    {Dtype::kUint64, "uint64", 8},
    {Dtype::kFloat16, "float16", 2},
    {Dtype::kBfloat16, "bfloat16", 2},
    {Dtype::kFloat32, "float32", 4},
    {Dtype::kFloat64, "float64", 8},
    {Dtype::kComplex32, "complex32", 4},
    {Dtype::kComplex64, "complex64", 8},
    {Dtype::kComplex128, "complex128", 16},
    {Dtype::kFloat8E4m3fn, "float8_e4m3fn", 1},
    {Dtype::kFloat8E5m2, "float8_e5m2", 1},
    {Dtype::kFloat8E4m3fnuz, "float8_e4m3fnuz", 1},
    {Dtype::kFloat8E5m2fnuz, "float8_e5m2fnuz", 1},
    {Dtype::kFloat8E8m0fnu, "float8_e8m0fnu", 1},
};

// A row is found by the dtype's number, so the rows must lie in that order, and so must the public list.
constexpr bool rows_are_in_order() {
  for (int i = 0; i < kNumDtypes; ++i)
    if (static_cast<int>(kRows[i].dtype) != i || static_cast<int>(kDtypes[i]) != i) return false;
  return true;
}
static_assert(sizeof(kRows) / sizeof(kRows[0]) == kNumDtypes);
static_assert(rows_are_in_order());

const Row& row(Dtype dtype) { return kRows[static_cast<int>(dtype)]; }

}  // namespace

const char* dtype_name(Dtype dtype) { return row(dtype).name; }

size_t item_size(Dtype dtype) { return row(dtype).item_size; }

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (const Row& candidate : kRows)
    if (name == candidate.name) return candidate.dtype;
  return std::nullopt;
}

}  // namespace ringtree
