// See simple.h.
#include "core/protocol/simple.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/prefetch.h"
#include "core/base/processor.h"
#include "core/base/stream_copy.h"

namespace ringtree {
namespace {

// Longer runs go piece by piece: the piece after the one that is worked on is fetched meanwhile, and where a result
// goes to two places it is still in the first-level cache when it is copied on. A multiple of every item size.
constexpr size_t kPieceBytes = 2048;
// Of copies: from 8 KB on glibc copies by `rep movsb`, which does not fetch what it overwrites.
constexpr size_t kCopyPieceBytes = 8192;
constexpr size_t kLine = 64, kPage = 4096, kHazardBytes = 256;

inline void fetch_all_for_writing(const void* from, size_t bytes) {
  const std::byte* const begin = static_cast<const std::byte*>(from);
  for (size_t at = 0; at < bytes; at += kLine) fetch_for_writing(begin + at);
}

// memcpy() of 4 KB and more is `rep movsb` in glibc, which some processors (AMD's Zen 3) run 16 times slower where the
// target lies 16 bytes behind the source within a page: as NumPy's large arrays do to slots. Up to kHazardBytes behind,
// of which only 16 were measured, shorter pieces are copied there, by vectors. Elsewhere those take 12 to 38 % longer
// (Intel Xeon, 64 KB, 2026-11-27). Figures: docs/decisions/0029.
void copy_bytes(std::byte* to, const std::byte* from, size_t bytes) {
  const size_t behind = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPage;
  const size_t piece = is_amd() && behind > 0 && behind < kHazardBytes ? kPieceBytes : bytes;
  for (size_t at = 0; at < bytes; at += piece) std::memcpy(to + at, from + at, std::min(piece, bytes - at));
}

/// Calls `work(at, bytes)` for each piece of the run, with what arrives fetched one piece ahead.
template <size_t kBytes, class Work>
void piece_by_piece(const SliceRun& run, const Work& work) {
  auto fetch = [&](size_t at) {
    if (at >= run.bytes) return;
    for (int i = 0; i < std::min(run.num_inputs, 64); ++i)
      if (run.becoming_ours >> i & 1)
        fetch_all_for_writing(static_cast<const std::byte*>(run.inputs[i]) + at, std::min(kBytes, run.bytes - at));
  };
  fetch(0);
  for (size_t at = 0; at < run.bytes; at += kBytes) {
    fetch(at + kBytes);
    work(at, std::min(kBytes, run.bytes - at));
  }
}

}  // namespace

void copy_run(const SliceRun& run) {
  if (run.bytes == 0) return;  // then pointers may be null, which memcpy forbids
  if (run.bytes <= kPieceBytes && !run.stream_dst && !run.stream_slot) {
    const void* const from = run.inputs[0];
    if (run.dst && run.dst != from) std::memcpy(run.dst, from, run.bytes);
    if (run.slot && run.slot != from) std::memcpy(run.slot, from, run.bytes);
    return;
  }
  const std::byte* const input = static_cast<const std::byte*>(run.inputs[0]);
  std::byte* const dst = run.dst == input ? nullptr : run.dst;
  std::byte* const slot = run.slot == input ? nullptr : run.slot;
  auto copy = [&](size_t at, size_t bytes) {
    if (dst && run.stream_dst) {
      stream_copy(dst + at, input + at, bytes);
    } else if (dst) {
      copy_bytes(dst + at, input + at, bytes);
    }
    if (slot && run.stream_slot) {
      stream_copy(slot + at, input + at, bytes);
    } else if (slot) {
      copy_bytes(slot + at, input + at, bytes);
    }
  };
  if (!dst && !slot) return;
  if (run.bytes <= kPieceBytes || (!run.becoming_ours && (!dst || !slot))) return copy(0, run.bytes);
  piece_by_piece<kCopyPieceBytes>(run, copy);
}

void fold_run(const SliceRun& run, FoldKernel fold, size_t item_bytes) {
  std::array<const void*, kMaxFold> inputs;
  alignas(kLine) std::array<std::byte, kPieceBytes> folded;
  auto fold_piece = [&](size_t at, size_t bytes) {
    for (int i = 0; i < run.num_inputs; ++i)
      inputs[static_cast<size_t>(i)] = static_cast<const std::byte*>(run.inputs[i]) + at;
    std::byte* const to = run.dst && run.stream_dst ? folded.data() : (run.dst ? run.dst : run.slot) + at;
    fold(to, inputs.data(), run.num_inputs, bytes / item_bytes);
    if (run.dst && run.stream_dst) stream_copy(run.dst + at, to, bytes);
    if (run.dst && run.slot) std::memcpy(run.slot + at, to, bytes);
    if (!run.into_inputs) return;
    for (int i = 0; i < std::min(run.num_inputs, 64); ++i)
      if (run.becoming_ours >> i & 1) std::memcpy(const_cast<void*>(inputs[static_cast<size_t>(i)]), to, bytes);
  };
  if (run.bytes == 0) return;
  const bool one_target = (!run.dst || !run.slot) && !run.into_inputs;
  if (one_target && !run.stream_dst && (run.bytes <= kPieceBytes || !run.becoming_ours)) {
    fold(run.dst ? run.dst : run.slot, run.inputs, run.num_inputs, run.bytes / item_bytes);
    return;
  }
  piece_by_piece<kPieceBytes>(run, fold_piece);
}

}  // namespace ringtree
