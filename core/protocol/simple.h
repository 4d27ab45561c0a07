// The simple protocol's arithmetic: what a verb does with one run of bytes of a slice. A slot is full when the link's
// counter says so (transport/link.h); bytes are moved by ordinary stores. Which run, from where and when is the
// executor's business.
#pragma once

#include <cstddef>

#include "core/reduce/kernels.h"

namespace ringtree {

/// Most operands of one step: what a peer-to-peer fan-in of this many ranks needs. Plans with more are refused when
/// they are made.
inline constexpr int kMaxFold = 256;

/// A contiguous run of a slice. Inputs are in fold order; `dst` (own buffer) and `slot` (outgoing) may each be absent.
/// `dst` may be exactly one of the inputs.
struct SliceRun {
  const void* const* inputs = nullptr;
  int num_inputs = 0;
  std::byte* dst = nullptr;
  std::byte* slot = nullptr;
  size_t bytes = 0;
};

/// Moves one input to where it goes.
void copy_run(const SliceRun& run);

/// Folds two to kMaxFold inputs with `fold` and puts the result where it goes. `item_bytes` divides run.bytes.
void fold_run(const SliceRun& run, FoldKernel fold, size_t item_bytes);

}  // namespace ringtree
