// What one slice step of a run (run.h) folds or copies, and where that lies. Not for: which step is next, or messages.
#pragma once

#include <array>

#include "core/base/processor.h"
#include "core/engine/executor.h"
#include "core/engine/messages.h"

namespace ringtree {

/// Where a slice step's operands lie beside the caller's buffers.
struct Slice {
  std::array<Operand, kMaxFold> arrived;
  std::byte* leaving = nullptr;
  bool streams_leaving = false;  // `leaving` is written around the caches
  bool streams_dst = false;      // the output as well: what arrived was
  bool answers = false;          // the result goes to where what arrived lies
};

/// Whether a slice that the step sends is written into its slot around the caches: much that goes one way, to a core
/// that is far and gets it from memory sooner than from ours (docs/decisions/0034). Also has the link look, every now
/// and then, how far its reader is: on AMD. On an Intel Xeon readers that share a cache with us counted as far, and
/// lost by this (docs/decisions/0036).
inline bool streams_slot(const PlanStep& step, size_t chunk_bytes) {
  constexpr size_t kFromBytes = size_t{2} << 20;
  constexpr uint64_t kLookEvery = 16;  // messages
  if (is_amd() && step.send->next() % kLookEvery == 0) step.send->look_at_distance();
  return !step.reduces && chunk_bytes >= kFromBytes && step.send->is_one_way() && step.send->reader_is_far();
}

/// The operands of a PlanStep or WholeStep, in the order in which they are folded: the rank's own stands where the step
/// says. `add(operands, i)` adds what came from the i-th peer.
template <class AnyStep, class Add>
Operands assemble(const AnyStep& step, const std::byte* own, std::byte* target, Add add) {
  Operands operands;
  for (int i = 0; i < step.num_recv; ++i) {
    if (own && i == step.src_at) operands.add_own(own);
    add(operands, i);
  }
  if (own && step.src_at >= step.num_recv) operands.add_own(own);
  if (step.reduces && step.num_recv == 0) operands.add_target(target, step.src_at == 1);
  return operands;
}

inline void fold_or_copy(const PlanStep& step, const SliceRun& run, const BoundCall& call) {
  if (step.reduces) {
    fold_run(run, call.fold, call.item_bytes);
  } else {
    copy_run(run);
  }
}

}  // namespace ringtree
