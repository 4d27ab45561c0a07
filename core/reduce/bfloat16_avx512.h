// bfloat16 with AVX-512 (F, BW and VBMI2): sums and products, 1.5 times as fast as the loops of fold_loops.h compiled
// for AVX2. The bits are those of codecs.h's Bfloat16 (NaN payloads aside). In its own namespace, as codecs.h explains.
//
// 32 elements are widened as in Bfloat16Pair: the low and the high half of each 32-bit word. What makes it fast is that
// both results are rounded at once, in 16-bit lanes: `kept` has the upper halves of the sums, `rest` their lower halves
// in the same places; a kept half is increased where its rest is more than a half, or a half and it is odd.
// Rejected: vcvtne2ps2bf16, which flushes subnormal results to zero; with a way out for those it was no faster (Zen 4).
#pragma once

#include <immintrin.h>

#include "core/reduce/codecs.h"
#include "core/reduce/fold_loops.h"
#include "core/reduce/operators.h"

namespace ringtree::RINGTREE_ISA {

inline constexpr size_t kTile = 32;                   // bfloat16 elements of one vector
inline constexpr __mmask32 kHighHalves = 0xAAAAAAAA;  // the odd 16-bit lanes

struct WideTile {
  __m512 low, high;
};

inline WideTile widen_bfloat16(__m512i stored) {
  const __m512i high = _mm512_and_si512(stored, _mm512_set1_epi32(static_cast<int>(0xFFFF0000u)));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(stored, 16)), _mm512_castsi512_ps(high)};
}

inline __m512i narrow_bfloat16(WideTile wide) {
  const __m512i low = _mm512_castps_si512(wide.low), high = _mm512_castps_si512(wide.high);
  const __m512i crossed = _mm512_shldi_epi32(high, low, 16);  // low's upper half below high's lower half
  const __m512i kept = _mm512_mask_blend_epi16(kHighHalves, crossed, high);
  const __m512i rest = _mm512_mask_blend_epi16(kHighHalves, low, crossed);
  // The least rest that rounds up: half where kept is odd, else one more.  half | (~kept & 1)
  constexpr int kFirstOrThirdWithoutSecond = 0xF2;
  const __m512i half = _mm512_set1_epi16(INT16_MIN), ones = _mm512_set1_epi16(1);
  const __m512i enough = _mm512_ternarylogic_epi32(half, kept, ones, kFirstOrThirdWithoutSecond);
  return _mm512_mask_add_epi16(kept, _mm512_cmpge_epu16_mask(rest, enough), kept, ones);
}

template <class Op>
WideTile apply(WideTile left, WideTile right);
template <>
inline WideTile apply<Add>(WideTile left, WideTile right) {
  return {_mm512_add_ps(left.low, right.low), _mm512_add_ps(left.high, right.high)};
}
template <>
inline WideTile apply<Multiply>(WideTile left, WideTile right) {
  return {_mm512_mul_ps(left.low, right.low), _mm512_mul_ps(left.high, right.high)};
}

// `get(k)` gives the tile of input k.
template <class Op, class Get>
inline __m512i fold_tile(int num_in, Get get) {
  WideTile acc = apply<Op>(widen_bfloat16(get(0)), widen_bfloat16(get(1)));
  for (int k = 2; k < num_in; ++k) acc = apply<Op>(acc, widen_bfloat16(get(k)));
  return narrow_bfloat16(acc);
}

// num_in is passed as a constant where it is 2, to become a loop of no rounds.
template <class Op>
inline void fold_tiles(void* out, const void* const* in, int num_in, size_t count) {
  size_t i = 0;
  for (; i + kTile <= count; i += kTile) {
    const __m512i folded = fold_tile<Op>(num_in, [in, i](int k) { return _mm512_loadu_si512(at<uint16_t>(in[k], i)); });
    _mm512_storeu_si512(static_cast<unsigned char*>(out) + i * sizeof(uint16_t), folded);
  }
  if (i == count) return;
  // What is left over: lanes beyond the end are neither read nor written.
  const auto left_over = static_cast<__mmask32>((1u << (count - i)) - 1u);
  const __m512i folded = fold_tile<Op>(
      num_in, [in, i, left_over](int k) { return _mm512_maskz_loadu_epi16(left_over, at<uint16_t>(in[k], i)); });
  _mm512_mask_storeu_epi16(static_cast<unsigned char*>(out) + i * sizeof(uint16_t), left_over, folded);
}

/// A FoldKernel.
template <class Op>
void fold_bfloat16_avx512(void* out, const void* const* in, int num_in, size_t count) {
  assert(num_in >= 2);
  if (num_in > 2) return fold_tiles<Op>(out, in, num_in, count);
  // A copy of the pointers, which for all that the compiler knows `out` could overwrite: kept in registers.
  const void* const two[] = {in[0], in[1]};
  fold_tiles<Op>(out, two, 2, count);
}

}  // namespace ringtree::RINGTREE_ISA
