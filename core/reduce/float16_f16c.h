// float16 with the x86 conversion instructions (F16C), which compilers do not generate from plain code. Only float16,
// only fold and divide; everything else is in fold_loops.h. The bits are those of codecs.h's Float16 (NaN payloads
// aside).
//
// Works block by block in float32, also for two inputs: the conversions are the only explicit vector code, and the ops
// between them are left to the compiler. In its own namespace for each instruction set, as codecs.h explains.
#pragma once

#include <immintrin.h>

#include "core/reduce/codecs.h"
#include "core/reduce/fold_loops.h"

namespace ringtree::RINGTREE_ISA {

inline constexpr size_t kFloat16Block = kBlockBytes / sizeof(float);

inline void widen_float16(float* wide, const void* from, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const void* place = at<uint16_t>(from, i);
    _mm256_store_ps(wide + i, _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(place))));
  }
  for (; i < count; ++i) wide[i] = load<Float16>(from, i);
}

inline void narrow_float16(void* to, const float* wide, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    void* place = static_cast<unsigned char*>(to) + i * sizeof(uint16_t);
    const __m128i eight = _mm256_cvtps_ph(_mm256_load_ps(wide + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(static_cast<__m128i*>(place), eight);
  }
  for (; i < count; ++i) store<Float16>(to, i, wide[i]);
}

/// A FoldKernel; kParts as in fold.
template <class Op, size_t kParts = 1>
void fold_float16(void* out, const void* const* in, int num_in, size_t count) {
  assert(num_in >= 2);
  alignas(64) float acc[kFloat16Block];
  alignas(64) float next[kFloat16Block];
  const size_t num_parts = count * kParts;
  for (size_t first = 0; first < num_parts; first += kFloat16Block) {
    const size_t block = smaller(kFloat16Block, num_parts - first);
    widen_float16(acc, at<uint16_t>(in[0], first), block);
    for (int k = 1; k < num_in; ++k) {
      widen_float16(next, at<uint16_t>(in[k], first), block);
      for (size_t i = 0; i < block; ++i) acc[i] = Op::apply(acc[i], next[i]);
    }
    narrow_float16(static_cast<unsigned char*>(out) + first * sizeof(uint16_t), acc, block);
  }
}

}  // namespace ringtree::RINGTREE_ISA
