// float16 with the x86 conversion instructions (F16C), which compilers do not generate from plain code. Only sums,
// products, divisions and scaling of float16; min and max need no conversion (code_order.h) and everything else is in
// fold_loops.h. The bits are those of codecs.h's Float16 (NaN payloads aside).
//
// The conversions set the pace: three for each pair of operands, 1.5 vectors of 8 elements a cycle (Zen 4, also with
// AVX-512), however they are arranged. In its own namespace for each instruction set, as codecs.h explains.
#pragma once

#include <immintrin.h>

#include "core/reduce/codecs.h"
#include "core/reduce/fold_loops.h"
#include "core/reduce/operators.h"

namespace ringtree::RINGTREE_ISA {

inline constexpr size_t kVector = 8;  // float16 elements of one conversion

inline __m256 widen_float16(const void* from, size_t index) {
  const void* place = at<uint16_t>(from, index);
  return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(place)));
}

inline void narrow_float16(void* to, size_t index, __m256 wide) {
  void* place = static_cast<unsigned char*>(to) + index * sizeof(uint16_t);
  _mm_storeu_si128(static_cast<__m128i*>(place), _mm256_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT));
}

inline __m256 apply(Add, __m256 left, __m256 right) { return _mm256_add_ps(left, right); }
inline __m256 apply(Multiply, __m256 left, __m256 right) { return _mm256_mul_ps(left, right); }

/// One element, for what vectors leave over; as Float16, but by the instructions, which are several times as fast.
struct Float16Single {
  using Storage = uint16_t;
  using Wide = float;
  static Wide decode(Storage stored) { return _cvtsh_ss(stored); }
  static Storage encode(Wide wide) { return _cvtss_sh(wide, _MM_FROUND_TO_NEAREST_INT); }
};

// From element `first` on as many tiles of kTile vectors as fit; accumulators stay in registers. Returns where it
// ended. num_in is passed as a constant where it is 2, to become a loop of no rounds.
template <class Op, size_t kTile>
inline size_t fold_tiles(void* out, const void* const* in, int num_in, size_t first, size_t count) {
  size_t i = first;
  for (; i + kTile * kVector <= count; i += kTile * kVector) {
    __m256 acc[kTile];
    for (size_t v = 0; v < kTile; ++v)
      acc[v] = apply(Op{}, widen_float16(in[0], i + v * kVector), widen_float16(in[1], i + v * kVector));
    for (int k = 2; k < num_in; ++k)
      for (size_t v = 0; v < kTile; ++v) acc[v] = apply(Op{}, acc[v], widen_float16(in[k], i + v * kVector));
    for (size_t v = 0; v < kTile; ++v) narrow_float16(out, i + v * kVector, acc[v]);
  }
  return i;
}

/// A FoldKernel; kParts as in fold.
template <class Op, size_t kParts = 1>
void fold_float16(void* out, const void* const* in, int num_in, size_t count) {
  assert(num_in >= 2);
  const size_t num_parts = count * kParts;
  size_t i =
      num_in == 2 ? fold_tiles<Op, 2>(out, in, 2, 0, num_parts) : fold_tiles<Op, 4>(out, in, num_in, 0, num_parts);
  i = fold_tiles<Op, 1>(out, in, num_in, i, num_parts);
  for (; i < num_parts; ++i) fold_one<Float16Single, Op>(out, in, num_in, i);
}

/// A FinishKernel; kParts as in divide.
template <size_t kParts>
void divide_float16(void* data, size_t count, int64_t num_ranks) {
  assert(num_ranks >= 1);
  const auto divisor = static_cast<float>(num_ranks);
  const __m256 divisors = _mm256_set1_ps(divisor);
  size_t i = 0;
  for (; i + kVector <= count * kParts; i += kVector)
    narrow_float16(data, i, _mm256_div_ps(widen_float16(data, i), divisors));
  for (; i < count * kParts; ++i) store<Float16Single>(data, i, load<Float16Single>(data, i) / divisor);
}

/// A ScaleKernel; kParts as in scale.
template <size_t kParts>
void scale_float16(void* out, const void* in, size_t count, double factor) {
  const auto multiplier = static_cast<float>(factor);
  const __m256 multipliers = _mm256_set1_ps(multiplier);
  size_t i = 0;
  for (; i + kVector <= count * kParts; i += kVector)
    narrow_float16(out, i, _mm256_mul_ps(widen_float16(in, i), multipliers));
  for (; i < count * kParts; ++i) store<Float16Single>(out, i, load<Float16Single>(in, i) * multiplier);
}

}  // namespace ringtree::RINGTREE_ISA
