// InPlace: what a run (run.h, whole_run.h) sends from where it lies instead of through a slot: to peers of this host
// that have mapped it, or to ranks of other hosts.
#pragma once

#include "core/base/stream_copy.h"
#include "core/engine/bound_call.h"
#include "core/engine/plan.h"

namespace ringtree {

class InPlace {
 public:
  explicit InPlace(const BoundCall& call) : call_(call) {}

  /// Whether the readers of what the step sends can and may read its `bytes` bytes where they lie.
  bool may_send(const PlanStep& step, size_t bytes) const {
    const bool may = call_.in_place ? step.direct.in_place : step.direct.out_of_place;
    // What the step wrote is in this core's caches, from which another one fetches more slowly than from slots. Where
    // this core itself reads it, that is welcome, and memory written around the caches is not.
    if (step.dst && call_.stream_output == step.leaves_host) return false;
    return may && bytes > kInlineBytes && (step.leaves_host || operand(step));
  }

  /// Sends them from `at`. `may_answer`: their one reader may write its result there.
  void send(const PlanStep& step, const std::byte* at, size_t bytes, uint32_t fingerprint, bool may_answer) {
    if (step.leaves_host) return step.send->publish_from(fingerprint, at, bytes);  // drive() flushes before it ends
    if (call_.stream_output) stream_fence();  // the output was written around the caches
    step.send->publish_in_place(fingerprint, operand(step).place(at), may_answer);
    sent_ = true;
  }

  /// Peers of this host have read all that was sent so.
  bool all_read(const Plan& plan) const {
    if (!sent_) return true;
    for (SendEnd* end : plan.direct_ends)
      if (!end->all_consumed()) return false;
    return true;
  }

 private:
  const SharedOperand& operand(const PlanStep& step) const {
    return step.direct.from == Buffer::input ? call_.shared_input : call_.shared_output;
  }

  const BoundCall& call_;
  bool sent_ = false;
};

}  // namespace ringtree
