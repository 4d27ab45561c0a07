// min and max of narrow floats straight from their codes (the stored bits), without conversion: the result is one of
// the inputs, so nothing is rounded. The integers that order the codes are all there is to it; the loops are
// fold_loops.h's. In its own namespace for each instruction set, as codecs.h explains.
//
// Codes are sign and magnitude. As the hand of a clock that turns from -largest over 0 to +largest, they go on through
// the NaNs, and back to -largest:
//
//        -largest ... -0 = +0 ... +largest   NaNs of either sign
//       |<------------------------------->|<------------------->|
//
// rank_for_max is the distance on that clock from -largest, so that every NaN is above every number; rank_for_min goes
// the other way round from +largest, so that every NaN is above again. The input of higher rank wins, the earlier one
// where ranks are equal: a NaN at any position stays, and of -0 and +0 the earlier.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/reduce/codecs.h"

namespace ringtree::RINGTREE_ISA {

/// Codec is a narrow float of codecs.h with the sign in the highest bit of its Storage. The rank less half the range,
/// because vector instructions compare signed numbers.
template <class Codec>
struct CodeOrder {
  using Code = typename Codec::Storage;
  using Rank = std::make_signed_t<Code>;
  static constexpr unsigned kSignBit = 1u << (8 * sizeof(Code) - 1);
  static constexpr unsigned kLargest = Codec::kLargest;

  // A negative code is kSignBit + magnitude: its value is kSignBit - code. Each branch is cut to the width of a code by
  // itself, or the compiler calculates in wider lanes (a quarter of the speed).
  static Rank rank_for_max(Code code) {
    const Code rank = is_negative(code) ? cut(kLargest - code) : cut(kLargest - kSignBit + code);
    return with_lone_nan(code, rank);
  }
  static Rank rank_for_min(Code code) {
    const Code rank = is_negative(code) ? cut(kLargest + code) : cut(kLargest - kSignBit - code);
    return with_lone_nan(code, rank);
  }

 private:
  static bool is_negative(Code code) { return static_cast<Rank>(code) < 0; }
  static Code cut(unsigned rank) { return static_cast<Code>(rank); }
  // The fnuz formats have their only NaN where -0 would be, in the middle of the numbers.
  static Rank with_lone_nan(Code code, Code rank) {
    if constexpr (kLargest == kSignBit - 1) rank = code == kSignBit ? cut(kSignBit - 1) : rank;
    return static_cast<Rank>(rank);
  }
};

template <class Codec>
struct MinOfCodes {
  template <class Code>
  static Code apply(Code left, Code right) {
    return CodeOrder<Codec>::rank_for_min(right) > CodeOrder<Codec>::rank_for_min(left) ? right : left;
  }
};

template <class Codec>
struct MaxOfCodes {
  template <class Code>
  static Code apply(Code left, Code right) {
    return CodeOrder<Codec>::rank_for_max(right) > CodeOrder<Codec>::rank_for_max(left) ? right : left;
  }
};

}  // namespace ringtree::RINGTREE_ISA
