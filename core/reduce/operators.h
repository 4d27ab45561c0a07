// The ops on two values that are already widened: add, multiply, smaller, larger, bit by bit. One line each, the same
// for scalars of every type. Not the reading and rounding of elements (codecs.h), not the loops (fold_loops.h). In its
// own namespace for each instruction set, as codecs.h explains.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/reduce/codecs.h"

namespace ringtree::RINGTREE_ISA {

// Integers are added and multiplied as unsigned numbers of at least 32 bits, where wrapping is defined; narrower ones
// would be promoted to int, where uint16 x uint16 can overflow.
template <class T>
using Arithmetic = std::conditional_t<std::is_floating_point_v<T>, T,
                                      std::conditional_t<sizeof(T) == sizeof(uint64_t), uint64_t, uint32_t>>;

struct Add {
  template <class T>
  static T apply(T left, T right) {
    return static_cast<T>(static_cast<Arithmetic<T>>(left) + static_cast<Arithmetic<T>>(right));
  }
};

struct Multiply {
  template <class T>
  static T apply(T left, T right) {
    return static_cast<T>(static_cast<Arithmetic<T>>(left) * static_cast<Arithmetic<T>>(right));
  }
};

// right != right holds for NaN only. A NaN on the right is taken; one on the left is not smaller than anything, and
// stays.
struct Min {
  template <class T>
  static T apply(T left, T right) {
    return ((right < left) | (right != right)) ? right : left;
  }
};

struct Max {
  template <class T>
  static T apply(T left, T right) {
    return ((right > left) | (right != right)) ? right : left;
  }
};

struct BitAnd {
  template <class T>
  static T apply(T left, T right) {
    return static_cast<T>(left & right);
  }
};

struct BitOr {
  template <class T>
  static T apply(T left, T right) {
    return static_cast<T>(left | right);
  }
};

struct BitXor {
  template <class T>
  static T apply(T left, T right) {
    return static_cast<T>(left ^ right);
  }
};

/// Op on both floats of a Bfloat16Pair::Wide.
template <class Op>
struct Halves {
  template <class T>
  static T apply(T left, T right) {
    return {Op::apply(left.low, right.low), Op::apply(left.high, right.high)};
  }
};

/// T is a Complex<...>::Wide.
struct MultiplyComplex {
  template <class T>
  static T apply(T left, T right) {
    return {left.re * right.re - left.im * right.im, left.re * right.im + left.im * right.re};
  }
};

}  // namespace ringtree::RINGTREE_ISA
