// How one element is read into the type that it is folded in (decode) and written back, rounded once (encode).
// Not the ops (operators.h), truth values (truth.h) or the loops (fold_loops.h). Branch-free, so that the compiler can
// vectorise the loops.
//
// This header is compiled once an instruction set, each time in its own namespace RINGTREE_ISA: were the names shared,
// the linker would keep one copy of a function for all, perhaps one with instructions that the processor lacks. For the
// same reason nothing here calls a function of the standard library.
#pragma once

#include <cfloat>
#include <cstddef>
#include <cstdint>

static_assert(FLT_EVAL_METHOD == 0, "floats must be evaluated in their own precision for results to be reproducible");

namespace ringtree::RINGTREE_ISA {

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

/// Folded as it is stored: wide integers and floats.
template <class T>
struct Plain {
  using Storage = T;
  using Wide = T;
  static Wide decode(Storage stored) { return stored; }
  static Storage encode(Wide wide) { return wide; }
};

/// The upper half of a float32.
struct Bfloat16 {
  using Storage = uint16_t;
  using Wide = float;
  static constexpr uint32_t kLargest = 0x7F80;  // the largest magnitude that is no NaN: infinity
  static constexpr uint32_t kOne = 0x3F80;
  static constexpr uint32_t kNonZero = 0x7FFF;  // the bits of which any makes the value differ from 0
  static Wide decode(Storage stored) { return bits_as<float>(static_cast<uint32_t>(stored) << 16); }
  static Storage encode(Wide wide) {
    return static_cast<Storage>(wide != wide ? 0x7FC0u : rounded_bits(bits_as<uint32_t>(wide)) >> 16);
  }
  /// The result in the upper half; the lower half is left over and means nothing. Not for any NaN: see Bfloat16Pair.
  static uint32_t rounded_bits(uint32_t bits) {
    // Adding just under half of the last kept place, and one more if that place is odd, carries exactly when it should.
    return bits + 0x7FFFu + ((bits >> 16) & 1u);
  }
};

/// Two bfloat16 as the halves of a 32-bit word: each half becomes a float32 in place, without moving elements between
/// vector lanes as a conversion of single elements must (with AVX2 that took 1.8 times as long). Which half is which
/// element does not matter.
/// encode takes only what sums and products of decoded numbers can be: if that is a NaN, its lower half is 0, since the
/// processor makes it from an operand's payload or takes its own (x86, Arm, Power and RISC-V alike), and rounding it
/// like any number carries nothing into its upper half. Asking for NaN first took 1.25 (AVX2) to
/// 1.5 (SSE2) times as long.
struct Bfloat16Pair {
  using Storage = uint32_t;
  struct Wide {
    float low, high;
  };
  static Wide decode(Storage stored) { return {bits_as<float>(stored << 16), bits_as<float>(stored & 0xFFFF0000u)}; }
  static Storage encode(Wide wide) {
    return (Bfloat16::rounded_bits(bits_as<uint32_t>(wide.low)) >> 16) |
           (Bfloat16::rounded_bits(bits_as<uint32_t>(wide.high)) & 0xFFFF0000u);
  }
};

/// What the largest codes of a narrow float mean.
enum class Specials {
  infinities,  // IEEE 754: all exponent bits set is infinity or NaN
  nan_only,    // "fn": only all bits set (after the sign) is NaN; no infinity, so encode saturates
  one_nan,     // "fnuz": the pattern of -0 is the only NaN; no infinity, no -0
};

/// A float of 1 + kExponentBits + kMantissaBits bits, narrower than float32 in both fields.
/// Sources: IEEE 754 (float16); Micikevicius et al., "FP8 Formats for Deep Learning", 2022 (e4m3fn, e5m2); Noune et
/// al., "8-bit Numerical Formats for Deep Neural Networks", 2022 (fnuz). The conversions follow F. Giesen's public
/// domain ones.
template <int kExponentBits, int kMantissaBits, int kBias, Specials kSpecials, class StorageType>
struct NarrowFloat {
  using Storage = StorageType;
  using Wide = float;

  static constexpr int kShift = 23 - kMantissaBits;  // float32's mantissa has 23 bits
  static constexpr uint32_t kSign = 1u << (kExponentBits + kMantissaBits);
  static constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << 23;
  // The first magnitude that is not a finite number: infinity where the format has one, or else NaN.
  static constexpr uint32_t kOverflow = kSpecials == Specials::infinities ? kSign - (1u << kMantissaBits)
                                        : kSpecials == Specials::nan_only ? kSign - 1
                                                                          : kSign;
  // The largest magnitude that is no NaN: infinity where the format has one, or else the largest number.
  static constexpr uint32_t kLargest = kSpecials == Specials::infinities ? kOverflow : kOverflow - 1;
  static constexpr uint32_t kNan =
      kSpecials == Specials::infinities ? kOverflow | (1u << (kMantissaBits - 1)) : kOverflow;
  static constexpr uint32_t kOne = static_cast<uint32_t>(kBias) << kMantissaBits;
  // The bits of which any makes the value differ from 0: all but the sign, which alone is -0 or, in fnuz, NaN.
  static constexpr uint32_t kNonZero = kSpecials == Specials::one_nan ? 2 * kSign - 1 : kSign - 1;
  static constexpr uint32_t kMinNormal = kRebias + (1u << 23);  // as float32
  static constexpr uint32_t kOverflowWide =
      kRebias + (kOverflow << kShift);  // as float32, exponent field beyond the last
  // The power of two whose last place in float32 is the narrow format's smallest subnormal.
  static constexpr uint32_t kSubnormalMagic = kMinNormal + (static_cast<uint32_t>(kShift) << 23);
  static constexpr uint32_t kWideInfinity = 0x7F800000u;
  static constexpr uint32_t kWideNan = 0x7FC00000u;

  static Wide decode(Storage stored) {
    const uint32_t magnitude = stored & (kSign - 1);
    const uint32_t shifted = magnitude << kShift;
    // A subnormal has no hidden one: read it as if it had, then subtract that one. Exact.
    const float with_one = bits_as<float>(shifted + kMinNormal);
    const uint32_t subnormal = bits_as<uint32_t>(with_one - bits_as<float>(kMinNormal));
    uint32_t wide = shifted < (1u << 23) ? subnormal : shifted + kRebias;
    if constexpr (kSpecials == Specials::infinities) {
      wide = magnitude >= kOverflow ? kWideInfinity + ((magnitude - kOverflow) << kShift) : wide;
    } else {
      wide = (kSpecials == Specials::one_nan ? stored : magnitude) == kOverflow ? kWideNan : wide;
    }
    return bits_as<float>(wide | (static_cast<uint32_t>(stored & kSign) << (31 - kExponentBits - kMantissaBits)));
  }

  static Storage encode(Wide wide) {
    const uint32_t bits = bits_as<uint32_t>(wide) & 0x7FFFFFFFu;
    const uint32_t sign = (bits_as<uint32_t>(wide) >> (31 - kExponentBits - kMantissaBits)) & kSign;
    // Rounds to nearest even as in Bfloat16; a carry out of the last finite number arrives at kOverflow by itself.
    const uint32_t odd = (bits >> kShift) & 1u;
    const uint32_t normal = (bits - kRebias + ((1u << (kShift - 1)) - 1u) + odd) >> kShift;
    // Here the addition does the rounding: the sum's last place is the smallest subnormal.
    const float aligned = bits_as<float>(bits) + bits_as<float>(kSubnormalMagic);
    const uint32_t subnormal = bits_as<uint32_t>(aligned) - kSubnormalMagic;
    uint32_t code = bits < kMinNormal ? subnormal : normal;
    code = bits >= kOverflowWide ? kOverflow : code;
    if constexpr (kSpecials == Specials::nan_only) code = code == kOverflow ? kOverflow - 1 : code;
    code = bits > kWideInfinity ? kNan : code;
    if constexpr (kSpecials == Specials::one_nan) return static_cast<Storage>(code == 0 ? 0 : code | sign);
    return static_cast<Storage>(code | sign);
  }
};

using Float16 = NarrowFloat<5, 10, 15, Specials::infinities, uint16_t>;
using Float8E5m2 = NarrowFloat<5, 2, 15, Specials::infinities, uint8_t>;
using Float8E4m3fn = NarrowFloat<4, 3, 7, Specials::nan_only, uint8_t>;
using Float8E4m3fnuz = NarrowFloat<4, 3, 8, Specials::one_nan, uint8_t>;
using Float8E5m2fnuz = NarrowFloat<5, 2, 16, Specials::one_nan, uint8_t>;

/// Two numbers side by side; only prod needs them together.
template <class Part>
struct Complex {
  struct Storage {
    typename Part::Storage re, im;
  };
  struct Wide {
    typename Part::Wide re, im;
  };
  static Wide decode(Storage stored) { return {Part::decode(stored.re), Part::decode(stored.im)}; }
  static Storage encode(Wide wide) { return {Part::encode(wide.re), Part::encode(wide.im)}; }
};

}  // namespace ringtree::RINGTREE_ISA
