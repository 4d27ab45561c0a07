// The element types that a collective can move: their stable numbers, PyTorch's names for them and their sizes in
// bytes. Not what can be done with them: which ops are defined for which dtype is known to core/reduce alone.
//
// The numbers travel between ranks (agreement on a call) and into stored results, so they are never reused or changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ringtree {

enum class Dtype : uint8_t {
  kBool = 0,
  kInt8 = 1,
  kUint8 = 2,
  kInt16 = 3,
  kUint16 = 4,
  kInt32 = 5,
  kUint32 = 6,
  kInt64 = 7,
  kUint64 = 8,
  kFloat16 = 9,
  kBfloat16 = 10,
  kFloat32 = 11,
  kFloat64 = 12,
  kComplex32 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kFloat8E4m3fn = 16,
  kFloat8E5m2 = 17,
  kFloat8E4m3fnuz = 18,
  kFloat8E5m2fnuz = 19,
  kFloat8E8m0fnu = 20,  // powers of two only (scales of the OCP microscaling formats): moved, never reduced
};

/// Every dtype, in the order of its number: kDtypes[i] has number i.
inline constexpr Dtype kDtypes[] = {
    Dtype::kBool,         Dtype::kInt8,         Dtype::kUint8,      Dtype::kInt16,          Dtype::kUint16,
    Dtype::kInt32,        Dtype::kUint32,       Dtype::kInt64,      Dtype::kUint64,         Dtype::kFloat16,
    Dtype::kBfloat16,     Dtype::kFloat32,      Dtype::kFloat64,    Dtype::kComplex32,      Dtype::kComplex64,
    Dtype::kComplex128,   Dtype::kFloat8E4m3fn, Dtype::kFloat8E5m2, Dtype::kFloat8E4m3fnuz, Dtype::kFloat8E5m2fnuz,
    Dtype::kFloat8E8m0fnu};
inline constexpr int kNumDtypes = static_cast<int>(sizeof(kDtypes) / sizeof(kDtypes[0]));

/// PyTorch's name: "float32", "bool", "float8_e4m3fn".
const char* dtype_name(Dtype dtype);
/// The dtype of that exact name, or nothing: an unknown name is the caller's error to report.
std::optional<Dtype> dtype_from_name(std::string_view name);
/// Bytes of one element.
size_t item_size(Dtype dtype);

}  // namespace ringtree
