// See stream_copy.h. One loop over whole lines for each instruction set, and the ends of the copy around it.
//
// Measured (Zen 4, one core, 64 MiB written): AVX is as fast as SSE2 where source and target are aligned alike and up
// to twice as fast where they are not, because half as many loads straddle two lines; AVX-512 adds nothing to that.
#include "core/base/stream_copy.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#endif

// ThreadSanitizer watches memcpy but not the stores that the intrinsics below make: a race would go unseen.
#if defined(__SANITIZE_THREAD__)
#define RINGTREE_STREAM_COPY_WATCHED
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RINGTREE_STREAM_COPY_WATCHED
#endif
#endif

namespace ringtree {
namespace {

#if defined(__x86_64__)
constexpr size_t kLine = 64;  // what one write-combining buffer holds: a line that is filled leaves in one piece

using CopyLines = void (*)(std::byte* to, const std::byte* from, size_t bytes);

// `to` is aligned to a line, `bytes` a multiple of one.
void copy_lines_sse2(std::byte* to, const std::byte* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
}

// The attribute compiles this function alone for AVX; no function of a header is called in it, of which the linker
// might keep this copy for all (as core/reduce/codecs.h explains).
__attribute__((target("avx"))) void copy_lines_avx(std::byte* to, const std::byte* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kLine) {
    const auto* source = reinterpret_cast<const __m256i*>(from + at);
    auto* target = reinterpret_cast<__m256i*>(to + at);
    const __m256i low = _mm256_loadu_si256(source), high = _mm256_loadu_si256(source + 1);
    _mm256_stream_si256(target, low);
    _mm256_stream_si256(target + 1, high);
  }
}

// Head up to the first line of `to` that is written whole, lines, tail.
template <CopyLines kCopyLines>
void copy_with_ends(void* out, const void* in, size_t bytes) {
  auto* to = static_cast<std::byte*>(out);
  const auto* from = static_cast<const std::byte*>(in);
  const size_t head = -reinterpret_cast<uintptr_t>(to) % kLine;
  if (bytes < head + kLine) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return;
  }
  const size_t lines = (bytes - head) / kLine * kLine;
  const size_t tail_at = head + lines;
  std::memcpy(to, from, head);
  kCopyLines(to + head, from + head, lines);
  std::memcpy(to + tail_at, from + tail_at, bytes - tail_at);
}

constexpr StreamCopyVariant kVariants[] = {{"sse2", copy_with_ends<copy_lines_sse2>},
                                           {"avx", copy_with_ends<copy_lines_avx>}};

size_t num_variants() { return __builtin_cpu_supports("avx") ? 2 : 1; }
#else
void copy_ordinary(void* out, const void* in, size_t bytes) {
  if (bytes > 0) std::memcpy(out, in, bytes);
}

constexpr StreamCopyVariant kVariants[] = {{"memcpy", copy_ordinary}};

size_t num_variants() { return 1; }
#endif

}  // namespace

std::span<const StreamCopyVariant> stream_copy_variants() { return {kVariants, num_variants()}; }

void stream_copy(void* out, const void* in, size_t bytes) {
#if defined(RINGTREE_STREAM_COPY_WATCHED)
  if (bytes > 0) std::memcpy(out, in, bytes);
#else
  static const StreamCopyVariant fastest = stream_copy_variants().back();
  fastest.copy(out, in, bytes);
#endif
}

void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace ringtree
