// The slow obvious scalar kernels; see reference.h. Clarity only: branches, ldexp, one element at a time.
#include "tests/core/reduce/reference.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ringtree {
namespace {

// Codes are sign, exponent, mantissa. Magnitudes from first_special on are not finite.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  uint32_t first_special;
  bool has_infinity;       // first_special is infinity, what follows is NaN; else first_special is NaN
  bool has_negative_zero;  // else the pattern of -0 is the NaN
  bool saturates;          // overflow gives the largest number, not first_special
};

Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16:
      return {5, 10, 15, 0x7C00, true, true, false};
    case Dtype::kBfloat16:
      return {8, 7, 127, 0x7F80, true, true, false};
    case Dtype::kFloat8E5m2:
      return {5, 2, 15, 0x7C, true, true, false};
    case Dtype::kFloat8E4m3fn:
      return {4, 3, 7, 0x7F, false, true, true};
    case Dtype::kFloat8E4m3fnuz:
      return {4, 3, 8, 0x80, false, false, false};
    default:
      return {5, 2, 16, 0x80, false, false, false};  // kFloat8E5m2fnuz
  }
}

uint32_t sign_bit(const Format& format) { return 1u << (format.exponent_bits + format.mantissa_bits); }

// The value of a magnitude by the formula for finite numbers. Also used for first_special, where it gives the number
// that would come next if the format went on: what rounds to that overflows.
double finite_value(const Format& format, uint32_t magnitude) {
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const int mantissa = static_cast<int>(magnitude & ((1u << format.mantissa_bits) - 1));
  const int hidden_one = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  return std::ldexp(hidden_one + mantissa, (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits);
}

template <class T>
T read(const void* base, size_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void write(void* base, size_t i, T value) {
  std::memcpy(static_cast<char*>(base) + i * sizeof(T), &value, sizeof(T));
}

template <class T>
T combine(ReduceOp op, T left, T right) {
  if constexpr (std::is_floating_point_v<T>) {
    if (op == ReduceOp::min || op == ReduceOp::max) {
      if (std::isnan(left)) return left;
      if (std::isnan(right)) return right;
    }
  }
  if (op == ReduceOp::min) return right < left ? right : left;
  if (op == ReduceOp::max) return right > left ? right : left;
  if constexpr (std::is_floating_point_v<T>) {
    return op == ReduceOp::prod ? left * right : left + right;
  } else {
    // Unsigned, so that overflow wraps; by way of int64_t, so that negative numbers keep their sign bits.
    const auto a = static_cast<uint64_t>(static_cast<int64_t>(left)),
               b = static_cast<uint64_t>(static_cast<int64_t>(right));
    return static_cast<T>(op == ReduceOp::prod ? a * b : a + b);
  }
}

template <class T>
std::complex<T> combine(ReduceOp op, std::complex<T> left, std::complex<T> right) {
  if (op != ReduceOp::prod) return left + right;
  return {left.real() * right.real() - left.imag() * right.imag(),
          left.real() * right.imag() + left.imag() * right.real()};
}

// Number: what is folded. `get` reads element i of an input, `put` writes element i of the output.
template <class Number, class Get, class Put>
void fold(ReduceOp op, const void* const* in, int num_in, size_t count, Get get, Put put) {
  for (size_t i = 0; i < count; ++i) {
    Number acc = get(in[0], i);
    for (int k = 1; k < num_in; ++k) acc = combine(op, acc, static_cast<Number>(get(in[k], i)));
    put(i, acc);
  }
}

template <class T>
void fold_plain(ReduceOp op, void* out, const void* const* in, int num_in, size_t count) {
  fold<T>(op, in, num_in, count, read<T>, [out](size_t i, T value) { write(out, i, value); });
}

float read_narrow(Dtype dtype, const void* base, size_t i) {
  const uint32_t bits = item_size(dtype) == 1 ? read<uint8_t>(base, i) : read<uint16_t>(base, i);
  return static_cast<float>(reference_decode(dtype, bits));
}

void write_narrow(Dtype dtype, void* base, size_t i, float value) {
  const uint32_t bits = reference_encode(dtype, static_cast<double>(value));
  if (item_size(dtype) == 1)
    write(base, i, static_cast<uint8_t>(bits));
  else
    write(base, i, static_cast<uint16_t>(bits));
}

bool is_complex(Dtype dtype) { return dtype >= Dtype::kComplex32 && dtype <= Dtype::kComplex128; }
bool is_bitwise(ReduceOp op) { return op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor; }
bool is_logical(ReduceOp op) { return op == ReduceOp::land || op == ReduceOp::lor || op == ReduceOp::lxor; }

/// A complex vector as the real one that lies in the same memory; any other as it is.
struct RealVector {
  Dtype dtype;
  size_t count;
};
RealVector real_vector(Dtype dtype, size_t count) {
  if (dtype == Dtype::kComplex32) return {Dtype::kFloat16, 2 * count};
  if (dtype == Dtype::kComplex64) return {Dtype::kFloat32, 2 * count};
  if (dtype == Dtype::kComplex128) return {Dtype::kFloat64, 2 * count};
  return {dtype, count};
}

// Calls visit with a zero of the C++ type of a real dtype and returns true; false for what C++ has no type for, and
// bool.
template <class Visit>
bool with_number(Dtype dtype, Visit visit) {
  const auto visited = [&](Dtype candidate, auto zero) { return candidate == dtype && (visit(zero), true); };
  return visited(Dtype::kInt8, int8_t{}) || visited(Dtype::kUint8, uint8_t{}) || visited(Dtype::kInt16, int16_t{}) ||
         visited(Dtype::kUint16, uint16_t{}) || visited(Dtype::kInt32, int32_t{}) ||
         visited(Dtype::kUint32, uint32_t{}) || visited(Dtype::kInt64, int64_t{}) ||
         visited(Dtype::kUint64, uint64_t{}) || visited(Dtype::kFloat32, float{}) || visited(Dtype::kFloat64, double{});
}

bool differs_from_zero(Dtype dtype, const void* base, size_t i) {
  if (is_complex(dtype)) {
    const Dtype part = real_vector(dtype, 1).dtype;
    return differs_from_zero(part, base, 2 * i) || differs_from_zero(part, base, 2 * i + 1);
  }
  if (dtype == Dtype::kBool) return read<uint8_t>(base, i) != 0;
  bool differs = false;
  if (with_number(dtype, [&](auto zero) { differs = read<decltype(zero)>(base, i) != zero; })) return differs;
  return read_narrow(dtype, base, i) != 0.0f;
}

void write_one_or_zero(Dtype dtype, void* base, size_t i, bool one) {
  if (is_complex(dtype)) {
    const Dtype part = real_vector(dtype, 1).dtype;
    write_one_or_zero(part, base, 2 * i, one);
    return write_one_or_zero(part, base, 2 * i + 1, false);
  }
  if (dtype == Dtype::kBool) return write(base, i, static_cast<uint8_t>(one ? 1 : 0));
  if (with_number(dtype, [&](auto zero) { write(base, i, static_cast<decltype(zero)>(one ? 1 : 0)); })) return;
  write_narrow(dtype, base, i, one ? 1.0f : 0.0f);
}

void fold_truth_values(Dtype dtype, ReduceOp op, void* out, const void* const* in, int num_in, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    int num_true = 0;
    for (int k = 0; k < num_in; ++k) num_true += differs_from_zero(dtype, in[k], i) ? 1 : 0;
    bool result = num_true == num_in;
    if (op == ReduceOp::lor) result = num_true > 0;
    if (op == ReduceOp::lxor) result = num_true % 2 == 1;
    write_one_or_zero(dtype, out, i, result);
  }
}

void fold_bits(ReduceOp op, void* out, const void* const* in, int num_in, size_t num_bytes) {
  for (size_t i = 0; i < num_bytes; ++i) {
    unsigned byte = 0;
    for (unsigned bit = 1; bit < 256; bit *= 2) {
      int num_set = 0;
      for (int k = 0; k < num_in; ++k) num_set += (read<uint8_t>(in[k], i) & bit) != 0 ? 1 : 0;
      bool result = num_set == num_in;
      if (op == ReduceOp::bor) result = num_set > 0;
      if (op == ReduceOp::bxor) result = num_set % 2 == 1;
      if (result) byte += bit;
    }
    write(out, i, static_cast<uint8_t>(byte));
  }
}

// What an op on bool means in terms of truth values.
ReduceOp logical_op(ReduceOp op) {
  if (op == ReduceOp::sum || op == ReduceOp::max || op == ReduceOp::bor || op == ReduceOp::lor) return ReduceOp::lor;
  return op == ReduceOp::bxor || op == ReduceOp::lxor ? ReduceOp::lxor : ReduceOp::land;
}

template <class T>
T divide(T value, int64_t num_ranks) {
  if constexpr (std::is_floating_point_v<T>) {
    return value / static_cast<T>(num_ranks);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(num_ranks));
  }
}

template <class T>
T multiply(T value, double factor) {
  if constexpr (std::is_floating_point_v<T>) {
    return value * static_cast<T>(factor);
  } else {
    // The factor's magnitude, since half of uint64 is beyond int64; the value as in combine.
    const auto magnitude = static_cast<uint64_t>(std::fabs(factor));
    const uint64_t product = static_cast<uint64_t>(static_cast<int64_t>(value)) * magnitude;
    return static_cast<T>(factor < 0 ? 0 - product : product);
  }
}

}  // namespace

double reference_decode(Dtype dtype, uint32_t bits) {
  const Format format = format_of(dtype);
  const bool negative = (bits & sign_bit(format)) != 0;
  const uint32_t magnitude = bits & (sign_bit(format) - 1);
  double value = finite_value(format, magnitude);
  if (magnitude >= format.first_special || (negative && magnitude == 0 && !format.has_negative_zero)) {
    const bool infinite = format.has_infinity && magnitude == format.first_special;
    value = infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  return negative ? -value : value;
}

uint32_t reference_encode(Dtype dtype, double value) {
  const Format format = format_of(dtype);
  if (std::isnan(value)) return format.has_infinity ? format.first_special + 1 : format.first_special;
  // Codes of positive numbers rise with their value: find the last one that is not above |value|.
  const double target = std::fabs(value);
  uint32_t below = 0, above = format.first_special;
  while (above - below > 1) {
    const uint32_t middle = (below + above) / 2;
    (finite_value(format, middle) <= target ? below : above) = middle;
  }
  const double to_below = target - finite_value(format, below), to_above = finite_value(format, above) - target;
  const bool up = to_above < to_below || (to_above == to_below && below % 2 == 1);
  const uint32_t code = up && !(above == format.first_special && format.saturates) ? above : below;
  const bool keeps_sign = format.has_negative_zero || (code != 0 && code != format.first_special);
  return std::signbit(value) && keeps_sign ? code | sign_bit(format) : code;
}

bool reference_defined(Dtype dtype, ReduceOp op) {
  if (dtype == Dtype::kFloat8E8m0fnu) return false;
  if (dtype == Dtype::kBool) return op != ReduceOp::avg && op != ReduceOp::premul_sum;
  if (dtype <= Dtype::kUint64) return true;
  const bool ordered = op == ReduceOp::min || op == ReduceOp::max;
  return !is_bitwise(op) && !(is_complex(dtype) && ordered);
}

void reference_fold(Dtype dtype, ReduceOp op, void* out, const void* const* in, int num_in, size_t count) {
  if (dtype == Dtype::kBool) return fold_truth_values(dtype, logical_op(op), out, in, num_in, count);
  if (is_logical(op)) return fold_truth_values(dtype, op, out, in, num_in, count);
  if (is_bitwise(op)) return fold_bits(op, out, in, num_in, count * item_size(dtype));
  if (dtype == Dtype::kComplex64) return fold_plain<std::complex<float>>(op, out, in, num_in, count);
  if (dtype == Dtype::kComplex128) return fold_plain<std::complex<double>>(op, out, in, num_in, count);
  if (dtype == Dtype::kComplex32)
    return fold<std::complex<float>>(
        op, in, num_in, count,
        [](const void* base, size_t i) {
          return std::complex<float>(read_narrow(Dtype::kFloat16, base, 2 * i),
                                     read_narrow(Dtype::kFloat16, base, 2 * i + 1));
        },
        [out](size_t i, std::complex<float> value) {
          write_narrow(Dtype::kFloat16, out, 2 * i, value.real());
          write_narrow(Dtype::kFloat16, out, 2 * i + 1, value.imag());
        });
  if (with_number(dtype, [&](auto zero) { fold_plain<decltype(zero)>(op, out, in, num_in, count); })) return;
  fold<float>(
      op, in, num_in, count, [dtype](const void* base, size_t i) { return read_narrow(dtype, base, i); },
      [dtype, out](size_t i, float value) { write_narrow(dtype, out, i, value); });
}

void reference_finish(Dtype dtype, void* data, size_t count, int64_t num_ranks) {
  const RealVector real = real_vector(dtype, count);
  for (size_t i = 0; i < real.count; ++i) {
    const bool done =
        with_number(real.dtype, [&](auto zero) { write(data, i, divide(read<decltype(zero)>(data, i), num_ranks)); });
    if (!done) write_narrow(real.dtype, data, i, divide(read_narrow(real.dtype, data, i), num_ranks));
  }
}

void reference_scale(Dtype dtype, void* out, const void* in, size_t count, double factor) {
  const RealVector real = real_vector(dtype, count);
  for (size_t i = 0; i < real.count; ++i) {
    const bool done =
        with_number(real.dtype, [&](auto zero) { write(out, i, multiply(read<decltype(zero)>(in, i), factor)); });
    if (!done) write_narrow(real.dtype, out, i, multiply(read_narrow(real.dtype, in, i), factor));
  }
}

}  // namespace ringtree
