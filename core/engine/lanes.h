// How far the lanes of a run are, and what a step comes to in one pass. Asked by the run itself (run.h), and by who
// looks ahead in it (link_placer.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/engine/bound_call.h"
#include "core/engine/plan.h"

namespace ringtree {

inline const BoundCall::Part& part_of(const BoundCall& call, const PlanStep& step, int channel, int index) {
  return call.part(index == 0 ? step.first_chunk : step.chunks.id(index, call.num_chunks), channel);
}

/// What a step moves in one pass.
struct StepCut {
  size_t bytes = 0, num_slices = 0;
  uint32_t fingerprint = 0;  // of its messages

  size_t slice_bytes(const BoundCall& call, size_t slice) const {
    return std::min(call.cut.slice_bytes, bytes - slice * call.cut.slice_bytes);
  }
  /// In the first pass there always is something to do: a message without bytes carries the call's order. In later ones
  /// not even that is sent: where blocks differ a peer may have fewer passes.
  bool skipped(size_t pass) const { return bytes == 0 && pass > 0; }
};

inline StepCut cut_step(const BoundCall& call, const PlanStep& step, int channel, size_t pass) {
  StepCut cut;
  size_t all = 0;
  for (int i = 0; i < step.chunks.count; ++i) {
    const size_t length = part_of(call, step, channel, i).length;
    cut.bytes += call.piece_bytes(length, pass);
    all += length;
  }
  cut.num_slices = cut.bytes <= call.cut.slice_bytes ? 1 : num_slices(cut.bytes, call.cut.slice_bytes);
  cut.fingerprint = call.uneven ? call.fingerprint_of(all) : call.fingerprint;
  return cut;
}

/// Whether what `dependency` names is done, for slice `slice` of pass `pass` of who waits for it.
inline bool met(const Plan& plan, const PlanDependency& dependency, size_t pass, size_t slice) {
  if (dependency.previous_pass && pass == 0) return true;
  const LaneState& other = plan.states[static_cast<size_t>(dependency.lane)];
  const size_t wanted = pass - (dependency.previous_pass ? 1 : 0);
  if (other.pass != wanted) return other.pass > wanted;
  if (other.step != dependency.step) return other.step > dependency.step;
  return dependency.by_slice && other.slice > slice;
}

}  // namespace ringtree
