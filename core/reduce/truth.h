// Truth values: codecs that read an element as true or false, straight from its stored bits, and write 1 or 0 in the
// element's own dtype. For land, lor, lxor and every op on bool. Not the ops, which are the bitwise ones of
// operators.h: false is the word 0 and true the word that stores 1, so that and, or and exclusive or give one of these
// two again.
//
// Without arithmetic on floats, so that what a processor makes of subnormal numbers or NaNs does not matter.
// In its own namespace for each instruction set, as codecs.h explains.
#pragma once

#include <cstdint>

#include "core/reduce/codecs.h"

namespace ringtree::RINGTREE_ISA {

/// kNonZero: the bits of which any makes the stored value differ from 0. kOne: what stores 1.
template <class Word, Word kNonZero, Word kOne>
struct Truth {
  using Storage = Word;
  using Wide = Word;
  static Wide decode(Storage stored) { return (stored & kNonZero) != 0 ? kOne : Word{0}; }
  static Storage encode(Wide wide) { return wide; }
};

/// Integers of either sign, and bool: any bit counts.
template <class Word>
using IntegerTruth = Truth<Word, static_cast<Word>(-1), 1>;

/// Codec is a narrow float of codecs.h.
template <class Codec>
using NarrowTruth = Truth<typename Codec::Storage, Codec::kNonZero, Codec::kOne>;

// All but the sign: -0 is false.
using Float32Truth = Truth<uint32_t, 0x7FFFFFFFu, 0x3F800000u>;
using Float64Truth = Truth<uint64_t, 0x7FFFFFFFFFFFFFFFu, 0x3FF0000000000000u>;

/// True where either part is not 0; true is written as 1 + 0i. Part is one of the above.
template <class Part>
struct ComplexTruth {
  struct Storage {
    typename Part::Storage re, im;
  };
  using Wide = typename Part::Wide;
  static Wide decode(Storage stored) {
    return Part::decode(static_cast<typename Part::Storage>(stored.re | stored.im));
  }
  static Storage encode(Wide wide) { return {wide, 0}; }
};

}  // namespace ringtree::RINGTREE_ISA
