// Emulated clusters: when a slice step is done, apart from how fast this machine is (docs/decisions/0006). A lane's
// clock is that of its last slice step; a message arrives when the emulated network would have delivered it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/engine/plan.h"
#include "core/engine/waiter.h"

namespace ringtree {

class VirtualTime {
 public:
  explicit VirtualTime(Plan& plan) : plan_(plan) {}

  void begin_poll(int64_t now_ns) {
    now_ns_ = now_ns;
    next_event_ns_ = kNever;
  }
  /// When a message that is under way arrives or a network card may be free.
  int64_t next_event_ns() const { return next_event_ns_; }

  bool has_arrived(const RecvEnd& end) {
    if (end.arrival_ns() <= now_ns_) return true;
    next_event_ns_ = std::min(next_event_ns_, end.arrival_ns());
    return false;
  }

  /// The last condition of a slice step, and the only one that can cease to hold: a slice that leaves the host needs
  /// its network card. True sets the lane's clock to when the slice is done.
  bool ready(LaneState& state, const PlanStep& step, size_t slice_bytes) {
    int64_t done = state.virtual_ns;
    for (int i = 0; i < step.num_recv; ++i)
      done =
          std::max(done, plan_.recv_ends[static_cast<size_t>(step.first_recv) + static_cast<size_t>(i)]->arrival_ns());
    if (step.send) done = std::max(done, step.send->slot_free_ns());
    for (int i = 0; i < step.num_dependencies; ++i)
      done = std::max(
          done,
          done_at(plan_.dependencies[static_cast<size_t>(step.first_dependency) + static_cast<size_t>(i)], state));
    if (step.send && step.send->crosses()) {
      const Nic::Grant grant = step.send->take_card(slice_bytes, done, now_ns_);
      if (!grant.taken) {
        next_event_ns_ = std::min(next_event_ns_, grant.look_again_ns);
        return false;
      }
      done = grant.start_ns;
    }
    state.virtual_ns = done;
    return true;
  }

  /// The slice of `step` that the lane does now is done when the lane's clock says.
  void note(const LaneState& state, const PlanStep& step) { times(step, state.pass)[state.slice] = state.virtual_ns; }
  /// So is a step that has nothing to do in this pass.
  void note_skipped(const LaneState& state, const PlanStep& step) { times(step, state.pass).fill(state.virtual_ns); }

 private:
  std::array<int64_t, kSlots / 2>& times(const PlanStep& step, size_t pass) {
    return plan_.step_times[static_cast<size_t>(&step - plan_.steps.data())][pass % 2];
  }

  int64_t done_at(const PlanDependency& dependency, const LaneState& state) {
    if (dependency.previous_pass && state.pass == 0) return 0;
    const size_t pass = state.pass - (dependency.previous_pass ? 1 : 0);
    const PlanLane& lane = plan_.lanes[static_cast<size_t>(dependency.lane)];
    const size_t step = static_cast<size_t>(lane.first_step) + static_cast<size_t>(dependency.step);
    const auto& slices = times(plan_.steps[step], pass);
    return dependency.by_slice ? slices[state.slice] : *std::max_element(slices.begin(), slices.end());
  }

  Plan& plan_;
  int64_t now_ns_ = 0;
  int64_t next_event_ns_ = kNever;
};

}  // namespace ringtree
