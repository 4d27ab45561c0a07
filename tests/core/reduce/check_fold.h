// Runs a fold kernel on seeded data at odd addresses, in place and out of place, and says how it differs from the
// reference. Shared by the tests of this folder; itself tested by test_check_fold.cpp. Not a test.
//
// Results are compared bit by bit, except that any NaN equals any NaN: their sign and payload are unspecified
// (kernels.h).
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/reduce/kernels.h"
#include "tests/core/reduce/reference.h"

namespace ringtree::testing_reduce {

using Bytes = std::vector<unsigned char>;

/// A small generator with a fixed meaning on every platform (splitmix64; S. Vigna, public domain).
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
};

inline bool is_float(Dtype dtype) { return dtype >= Dtype::kFloat16; }
inline size_t parts_per_item(Dtype dtype) { return dtype >= Dtype::kComplex32 && dtype <= Dtype::kComplex128 ? 2 : 1; }

/// What a complex number is made of; any other dtype itself.
inline Dtype part_of(Dtype dtype) {
  if (dtype == Dtype::kComplex32) return Dtype::kFloat16;
  if (dtype == Dtype::kComplex64) return Dtype::kFloat32;
  return dtype == Dtype::kComplex128 ? Dtype::kFloat64 : dtype;
}

inline double float_at(Dtype part, const unsigned char* at) {
  if (part == Dtype::kFloat64) {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  if (part == Dtype::kFloat32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return static_cast<double>(value);
  }
  uint32_t bits = at[0];
  if (item_size(part) == 2)
    bits |= static_cast<uint32_t>(at[1]) << 8;  // little-endian, as every machine that we test on
  return reference_decode(part, bits);
}

inline void put_float(Dtype part, unsigned char* at, double value) {
  const auto narrow = static_cast<float>(value);
  const uint32_t bits = item_size(part) <= 2 ? reference_encode(part, value) : 0;
  const void* from = part == Dtype::kFloat64   ? static_cast<const void*>(&value)
                     : part == Dtype::kFloat32 ? static_cast<const void*>(&narrow)
                                               : static_cast<const void*>(&bits);
  std::memcpy(at, from, item_size(part));
}

enum class Data {
  any_bits,    // every bit pattern: NaNs, infinities, subnormals, overflow
  ordinary,    // floats between -8 and 8 with all their digits, so that every rounding and every order shows
  often_zero,  // half of the numbers 0, -0 (or what has the sign's bit alone) or the smallest; the others any bits
};

inline Bytes make_data(Dtype dtype, size_t count, Data data, uint64_t seed) {
  Random random{seed};
  Bytes bytes(count * item_size(dtype));
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random.next() >> 56);
  const Dtype part = part_of(dtype);
  const size_t part_size = item_size(part);
  if (data == Data::ordinary && is_float(dtype))
    for (size_t at = 0; at < bytes.size(); at += part_size)
      put_float(part, &bytes[at], std::ldexp(static_cast<double>(random.next() >> 11), -49) - 8.0);
  if (data == Data::often_zero) {
    for (size_t at = 0; at < bytes.size(); at += part_size) {
      const uint64_t kind = random.next() % 8;
      if (kind < 4) std::memset(&bytes[at], 0, part_size);
      if (kind == 2) bytes[at + part_size - 1] = 0x80;  // the sign, in little-endian memory
      if (kind == 3) bytes[at] = 1;
    }
  }
  return bytes;
}

/// Index of the first element that differs, if one does.
inline std::optional<size_t> first_difference(Dtype dtype, const unsigned char* got, const unsigned char* want,
                                              size_t count) {
  const Dtype part = part_of(dtype);
  const size_t part_size = item_size(part);
  for (size_t i = 0; i < count * parts_per_item(dtype); ++i) {
    const unsigned char *a = got + i * part_size, *b = want + i * part_size;
    if (std::memcmp(a, b, part_size) == 0) continue;
    if (is_float(part) && std::isnan(float_at(part, a)) && std::isnan(float_at(part, b))) continue;
    return i / parts_per_item(dtype);
  }
  return std::nullopt;
}

inline constexpr int kOutOfPlace = -1;

struct Case {
  Dtype dtype;
  ReduceOp op;
  size_t count;
  int num_in;
  Data data;
};

/// Runs `kernel` out of place and in place on the first, a middle and the last input, at addresses that no element size
/// divides. Empty if all is right, else one line that says what is wrong.
inline std::string check_fold(FoldKernel kernel, const Case& test) {
  const size_t size_bytes = test.count * item_size(test.dtype);
  std::vector<Bytes> data;
  std::vector<const void*> pointers;
  for (int k = 0; k < test.num_in; ++k) data.push_back(make_data(test.dtype, test.count, test.data, 1000u + k));
  for (const Bytes& bytes : data) pointers.push_back(bytes.data());
  Bytes want(size_bytes);
  reference_fold(test.dtype, test.op, want.data(), pointers.data(), test.num_in, test.count);

  constexpr size_t kMargin = 65;
  constexpr unsigned char kUntouched = 0xA5;
  for (int alias : {kOutOfPlace, 0, test.num_in / 2, test.num_in - 1}) {
    std::vector<Bytes> inputs;
    std::vector<const void*> in;
    for (int k = 0; k < test.num_in; ++k) {
      const size_t shift = kMargin + static_cast<size_t>(2 * k);  // odd
      inputs.emplace_back(shift + size_bytes + kMargin, kUntouched);
      std::copy(data[k].begin(), data[k].end(), inputs.back().begin() + static_cast<std::ptrdiff_t>(shift));
    }
    for (int k = 0; k < test.num_in; ++k) in.push_back(&inputs[k][kMargin + static_cast<size_t>(2 * k)]);
    Bytes apart(kMargin + size_bytes + kMargin, kUntouched);
    Bytes& holder = alias == kOutOfPlace ? apart : inputs[alias];
    unsigned char* out = &holder[kMargin + (alias == kOutOfPlace ? 0 : static_cast<size_t>(2 * alias))];
    kernel(out, in.data(), test.num_in, test.count);

    const std::string where = std::string(dtype_name(test.dtype)) + " " + reduce_op_name(test.op) + ", count " +
                              std::to_string(test.count) + ", inputs " + std::to_string(test.num_in) +
                              ", in place of " + std::to_string(alias) + ": ";
    if (const auto index = first_difference(test.dtype, out, want.data(), test.count))
      return where + "element " + std::to_string(*index) + " is wrong";
    for (const unsigned char* at = holder.data(); at < holder.data() + holder.size(); ++at)
      if ((at < out || at >= out + size_bytes) && *at != kUntouched) return where + "wrote outside the output";
    for (int k = 0; k < test.num_in; ++k)
      if (k != alias && size_bytes > 0 && std::memcmp(in[k], data[k].data(), size_bytes) != 0)
        return where + "changed input " + std::to_string(k);
  }
  return {};
}

}  // namespace ringtree::testing_reduce
