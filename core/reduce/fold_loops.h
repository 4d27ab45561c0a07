// The loops: a fold of any number of inputs, the division that finishes avg and the multiplication that precedes the
// fold of premul_sum. Generic over codec and op.
// Not the choice of loop for a dtype: that is kernel_table_builder.h.
//
//   two inputs    out <- encode(op(decode(a), decode(b))), in one go
//   more          block by block:  acc <- op(a, b),  acc <- op(acc, c), ...,  out <- encode(op(acc, last))
//
// The accumulator of a block stays in the first-level cache. `out` may be one of the inputs: an element is only ever
// written after every input's element at that place has been read, within one iteration or after the earlier passes of
// the block. In its own namespace for each instruction set, as codecs.h explains.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/reduce/codecs.h"
#include "core/reduce/operators.h"

// Iterations of the next loop do not depend on each other, although `out` may be an input: without this promise the
// vector code would be skipped at run time in exactly the common case, a reduction in place.
#if defined(__clang__)
#define RINGTREE_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define RINGTREE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace ringtree::RINGTREE_ISA {

inline constexpr size_t kBlockBytes = 2048;

inline size_t smaller(size_t left, size_t right) { return left < right ? left : right; }

template <class Storage>
inline const unsigned char* at(const void* base, size_t index) {
  return static_cast<const unsigned char*>(base) + index * sizeof(Storage);
}

// Elements go through memcpy because no alignment is assumed; it compiles to one load or store.
template <class Codec>
inline typename Codec::Wide load(const void* base, size_t index) {
  typename Codec::Storage stored;
  __builtin_memcpy(&stored, at<typename Codec::Storage>(base, index), sizeof(stored));
  return Codec::decode(stored);
}

template <class Codec>
inline void store(void* base, size_t index, typename Codec::Wide wide) {
  const typename Codec::Storage stored = Codec::encode(wide);
  __builtin_memcpy(static_cast<unsigned char*>(base) + index * sizeof(stored), &stored, sizeof(stored));
}

// Never inlined: both its callers share one copy of the loop, and a call costs less than a nanosecond.
template <class Codec, class Op>
[[gnu::noinline]] void fold_two(void* out, const void* left, const void* right, size_t count) {
  RINGTREE_INDEPENDENT_ITERATIONS
  for (size_t i = 0; i < count; ++i) store<Codec>(out, i, Op::apply(load<Codec>(left, i), load<Codec>(right, i)));
}

template <class Codec, class Op>
void fold_block(void* out, const void* const* in, int num_in, size_t first, size_t count) {
  using Storage = typename Codec::Storage;
  alignas(64) typename Codec::Wide acc[kBlockBytes / sizeof(typename Codec::Wide)];
  const void* left = at<Storage>(in[0], first);
  const void* right = at<Storage>(in[1], first);
  for (size_t i = 0; i < count; ++i) acc[i] = Op::apply(load<Codec>(left, i), load<Codec>(right, i));
  for (int k = 2; k < num_in - 1; ++k) {
    const void* next = at<Storage>(in[k], first);
    for (size_t i = 0; i < count; ++i) acc[i] = Op::apply(acc[i], load<Codec>(next, i));
  }
  const void* last = at<Storage>(in[num_in - 1], first);
  void* to = static_cast<unsigned char*>(out) + first * sizeof(Storage);
  RINGTREE_INDEPENDENT_ITERATIONS
  for (size_t i = 0; i < count; ++i) store<Codec>(to, i, Op::apply(acc[i], load<Codec>(last, i)));
}

// Where the accumulator is stored as elements are, every fold is one of two: a third of the code of fold_block.
template <class Codec, class Op>
void fold_block_in_pairs(void* out, const void* const* in, int num_in, size_t first, size_t count) {
  using Storage = typename Codec::Storage;
  alignas(64) Storage acc[kBlockBytes / sizeof(Storage)];
  fold_two<Codec, Op>(acc, at<Storage>(in[0], first), at<Storage>(in[1], first), count);
  for (int k = 2; k < num_in - 1; ++k) fold_two<Codec, Op>(acc, acc, at<Storage>(in[k], first), count);
  void* to = static_cast<unsigned char*>(out) + first * sizeof(Storage);
  fold_two<Codec, Op>(to, acc, at<Storage>(in[num_in - 1], first), count);
}

/// A FoldKernel. kParts is 2 where a complex element is folded as two independent numbers.
template <class Codec, class Op, size_t kParts = 1>
void fold(void* out, const void* const* in, int num_in, size_t count) {
  assert(num_in >= 2);
  using Wide = typename Codec::Wide;
  constexpr size_t kBlock = kBlockBytes / sizeof(Wide);
  const size_t num_parts = count * kParts;
  if (num_in == 2) return fold_two<Codec, Op>(out, in[0], in[1], num_parts);
  for (size_t first = 0; first < num_parts; first += kBlock) {
    const size_t in_block = smaller(kBlock, num_parts - first);
    if constexpr (std::is_same_v<Wide, typename Codec::Storage>)
      fold_block_in_pairs<Codec, Op>(out, in, num_in, first, in_block);
    else
      fold_block<Codec, Op>(out, in, num_in, first, in_block);
  }
}

/// Element `index` alone, where vectors leave a rest.
template <class Codec, class Op>
void fold_one(void* out, const void* const* in, int num_in, size_t index) {
  typename Codec::Wide acc = load<Codec>(in[0], index);
  for (int k = 1; k < num_in; ++k) acc = Op::apply(acc, load<Codec>(in[k], index));
  store<Codec>(out, index, acc);
}

/// A FoldKernel for bfloat16, two elements at a time.
template <class Op>
void fold_bfloat16(void* out, const void* const* in, int num_in, size_t count) {
  fold<Bfloat16Pair, Halves<Op>>(out, in, num_in, count / 2);
  if (count % 2 != 0) fold_one<Bfloat16, Op>(out, in, num_in, count - 1);
}

/// A FinishKernel.
template <class Codec, size_t kParts = 1>
void divide(void* data, size_t count, int64_t num_ranks) {
  assert(num_ranks >= 1);
  using Wide = typename Codec::Wide;
  // Integers are divided in 64 bits, since num_ranks may exceed the element's type; the division truncates towards
  // zero.
  using Quotient = std::conditional_t<std::is_floating_point_v<Wide>, Wide,
                                      std::conditional_t<std::is_signed_v<Wide>, int64_t, uint64_t>>;
  const auto divisor = static_cast<Quotient>(num_ranks);
  for (size_t i = 0; i < count * kParts; ++i)
    store<Codec>(data, i, static_cast<Wide>(static_cast<Quotient>(load<Codec>(data, i)) / divisor));
}

template <class Codec, class Op>
void multiply_each(void* out, const void* in, size_t count, typename Codec::Wide factor) {
  RINGTREE_INDEPENDENT_ITERATIONS
  for (size_t i = 0; i < count; ++i) store<Codec>(out, i, Op::apply(load<Codec>(in, i), factor));
}

/// A ScaleKernel; kParts as in fold. The factor fits (kernels.h), so that its conversion is defined.
template <class Codec, size_t kParts = 1>
void scale(void* out, const void* in, size_t count, double factor) {
  multiply_each<Codec, Multiply>(out, in, count * kParts, static_cast<typename Codec::Wide>(factor));
}

/// A ScaleKernel for bfloat16, two elements at a time.
inline void scale_bfloat16(void* out, const void* in, size_t count, double factor) {
  auto narrow = static_cast<float>(factor);
  narrow = narrow != narrow ? bits_as<float>(0x7FC00000u) : narrow;  // a payload could be rounded up: Bfloat16Pair
  multiply_each<Bfloat16Pair, Halves<Multiply>>(out, in, count / 2, {narrow, narrow});
  if (count % 2 != 0) store<Bfloat16>(out, count - 1, load<Bfloat16>(in, count - 1) * narrow);
}

}  // namespace ringtree::RINGTREE_ISA
