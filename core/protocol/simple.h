// What a verb does with one run of bytes of a slice, and how the simple protocol moves them: by the fastest copy that
// there is, with what arrives fetched ahead. Which run, from where and when is the executor's business; ll and ll128
// bring their slices here unpacked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/reduce/kernels.h"

namespace ringtree {

/// Most operands of one step: what a peer-to-peer fan-in of this many ranks needs. Plans with more are refused when
/// they are made.
inline constexpr int kMaxFold = 256;

/// A contiguous run of a slice. Inputs are in fold order; `dst` (own buffer) and `slot` (outgoing) may each be absent.
/// `dst` and `slot` may each be exactly one of the inputs.
struct SliceRun {
  const void* const* inputs = nullptr;
  int num_inputs = 0;
  std::byte* dst = nullptr;
  std::byte* slot = nullptr;
  size_t bytes = 0;
  /// Bit i: input i lies in a slot that is ours from now on and will be written next, so its lines are fetched for
  /// writing: they cross from core to core once instead of twice. The first 64 inputs.
  uint64_t becoming_ours = 0;
  /// The result also goes to where those inputs lie: buffers of peers that wait for it there. Folds only, with a dst.
  bool into_inputs = false;
  /// dst will not be read soon: written around the caches (non-temporal stores); stream_fence() is the caller's.
  bool stream_dst = false;
  /// slot is read by a core that is far, which fetches a line from memory sooner than from this core's caches: written
  /// around them. Copies only; stream_fence() is the caller's, before the message leaves.
  bool stream_slot = false;
};

/// Moves one input to where it goes.
void copy_run(const SliceRun& run);

/// Folds two to kMaxFold inputs with `fold` and puts the result where it goes. `item_bytes` divides run.bytes.
void fold_run(const SliceRun& run, FoldKernel fold, size_t item_bytes);

}  // namespace ringtree
