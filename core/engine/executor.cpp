// See executor.h.
#include "core/engine/executor.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/clock.h"
#include "core/protocol/simple.h"

namespace ringtree {
namespace {

// Widened before adding: an index into a plan may pass what an int holds.
constexpr size_t sum(int a, int b) { return static_cast<size_t>(a) + static_cast<size_t>(b); }

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

class Run {
 public:
  Run(Plan& plan, const BoundCall& call, bool emulated) : plan_(plan), call_(call), emulated_(emulated) {
    const int64_t start_ns = emulated ? now_ns() : 0;
    for (size_t i = 0; i < plan.lanes.size(); ++i) {
      plan.states[i] = LaneState{};
      plan.states[i].virtual_ns = start_ns;
      if (plan.lanes[i].num_steps == 0) {
        plan.states[i].pass = call.cut.num_passes;
      } else {
        ++num_open_;
        begin_step(i);
      }
    }
  }

  bool finished() const { return num_open_ == 0; }
  int mismatched_peer() const { return mismatched_peer_; }
  /// When a message that is under way arrives or a network card may be free; emulated clusters only.
  int64_t next_event_ns() const { return next_event_ns_; }

  /// Advances every lane as far as it goes. True if anything moved.
  bool poll() {
    bool moved = false;
    next_event_ns_ = kNever;
    if (emulated_) now_ns_ = now_ns();
    for (size_t i = 0; i < plan_.lanes.size(); ++i) {
      while (plan_.states[i].pass < call_.cut.num_passes && ready(i)) {
        do_slice(i);
        moved = true;
      }
      if (mismatched_peer_ >= 0) return true;  // counts as moved: the caller looks
    }
    return moved;
  }

 private:
  const PlanStep& step_of(size_t lane) const {
    return plan_.steps[sum(plan_.lanes[lane].first_step, plan_.states[lane].step)];
  }

  RecvEnd& recv_end(const PlanStep& step, int index) const { return *plan_.recv_ends[sum(step.first_recv, index)]; }

  // --- cutting
  // ---------------------------------------------------------------------------------------------------------------

  void begin_step(size_t lane) {
    LaneState& state = plan_.states[lane];
    const PlanStep& step = step_of(lane);
    size_t bytes = 0;
    for (int i = 0; i < step.chunks.count; ++i) bytes += call_.piece_bytes(part(lane, step, i).length, state.pass);
    state.step_bytes = bytes;
    state.num_slices = num_slices(bytes, call_.cut.slice_bytes);
    state.slice = 0;
    state.run_index = 0;
    state.run_offset = 0;
  }

  Extent part(size_t lane, const PlanStep& step, int index) const {
    return call_.part_bytes(step.chunks.id(index, plan_.schedule->shape().num_chunks), plan_.lanes[lane].channel);
  }

  // --- may the next slice step go?
  // -------------------------------------------------------------------------------------------

  bool ready(size_t lane) {
    LaneState& state = plan_.states[lane];
    const PlanStep& step = step_of(lane);
    while (state.checked < step.num_recv) {
      if (!message_there(recv_end(step, state.checked))) return false;
      ++state.checked;
    }
    if (state.checked == step.num_recv) {
      if (step.send && !step.send->has_free_slot()) return false;
      ++state.checked;
    }
    while (state.checked - step.num_recv - 1 < step.num_dependencies) {
      const PlanDependency& dependency =
          plan_.dependencies[sum(step.first_dependency, state.checked - step.num_recv - 1)];
      if (!met(dependency, state)) return false;
      ++state.checked;
    }
    return !emulated_ || virtually_ready(lane, step);
  }

  bool message_there(RecvEnd& end) {
    if (!end.has_message()) return false;
    if (end.fingerprint() != call_.fingerprint) {
      mismatched_peer_ = end.peer();
      return false;
    }
    if (emulated_ && end.arrival_ns() > now_ns_) {
      next_event_ns_ = std::min(next_event_ns_, end.arrival_ns());
      return false;
    }
    return true;
  }

  bool met(const PlanDependency& dependency, const LaneState& state) const {
    if (dependency.previous_pass && state.pass == 0) return true;
    const LaneState& other = plan_.states[static_cast<size_t>(dependency.lane)];
    const size_t pass = state.pass - (dependency.previous_pass ? 1 : 0);
    if (other.pass != pass) return other.pass > pass;
    if (other.step != dependency.step) return other.step > dependency.step;
    return dependency.by_slice && other.slice > state.slice;
  }

  // --- do it
  // -----------------------------------------------------------------------------------------------------------------

  size_t slice_bytes(const LaneState& state) const {
    return std::min(call_.cut.slice_bytes, state.step_bytes - state.slice * call_.cut.slice_bytes);
  }

  void do_slice(size_t lane) {
    LaneState& state = plan_.states[lane];
    const PlanStep& step = step_of(lane);
    const size_t bytes = slice_bytes(state);
    if (emulated_) times(static_cast<size_t>(&step - plan_.steps.data()), state.pass)[state.slice] = state.virtual_ns;
    move_bytes(lane, step, bytes);
    for (int i = 0; i < step.num_recv; ++i) recv_end(step, i).release(emulated_, state.virtual_ns);
    if (step.send) step.send->publish(call_.fingerprint, bytes, state.virtual_ns);
    state.checked = 0;
    if (++state.slice == state.num_slices) next_step(lane);
  }

  void next_step(size_t lane) {
    LaneState& state = plan_.states[lane];
    if (++state.step == plan_.lanes[lane].num_steps) {
      state.step = 0;
      if (++state.pass == call_.cut.num_passes) {
        --num_open_;
        return;
      }
    }
    begin_step(lane);
  }

  // The slice is a run of the step's chunks laid end to end; it may begin and end within chunks and span small ones.
  void move_bytes(size_t lane, const PlanStep& step, size_t bytes) {
    LaneState& state = plan_.states[lane];
    size_t done = 0;
    while (done < bytes) {
      const Extent where = part(lane, step, state.run_index);
      const size_t piece = call_.piece_bytes(where.length, state.pass);
      const size_t run = std::min(piece - state.run_offset, bytes - done);
      if (run > 0) move_run(lane, step, where.offset + state.pass * call_.cut.pass_bytes + state.run_offset, done, run);
      done += run;
      state.run_offset += run;
      if (state.run_offset == piece) {
        ++state.run_index;
        state.run_offset = 0;
      }
    }
  }

  /// `at`: byte in the collective's whole vector; `in_slice`: byte in the slice.
  void move_run(size_t lane, const PlanStep& step, size_t at, size_t in_slice, size_t bytes) {
    std::array<const void*, kMaxFold + 1> inputs;
    int num_inputs = 0;
    const std::byte* src = step.src ? locate(lane, step.src, at) : nullptr;
    std::byte* dst = step.dst ? locate(lane, step.dst, at) : nullptr;
    for (int i = 0; i <= step.num_recv; ++i) {
      if (src && i == std::min(step.src_at, step.num_recv)) inputs[static_cast<size_t>(num_inputs++)] = src;
      if (i < step.num_recv) inputs[static_cast<size_t>(num_inputs++)] = recv_end(step, i).slot() + in_slice;
    }
    if (step.reduces && step.num_recv == 0) {  // local reduce: what dst holds is the second operand
      inputs[static_cast<size_t>(num_inputs++)] = dst;
      if (step.src_at == 1) std::swap(inputs[0], inputs[1]);
    }
    const SliceRun run{inputs.data(), num_inputs, dst, step.send ? step.send->slot() + in_slice : nullptr, bytes};
    if (step.reduces) {
      fold_run(run, call_.fold, call_.item_bytes);
    } else {
      copy_run(run);
    }
  }

  std::byte* locate(size_t lane, const Place& place, size_t at) {
    switch (place.buffer) {
      case Buffer::input:
        return const_cast<std::byte*>(call_.input) + (at - call_.input_origin);  // only read: Program forbids it as dst
      case Buffer::output:
        return call_.output + (at - call_.output_origin);
      default:
        break;
    }
    // A scratch slot begins with the piece's first byte of this pass.
    const LaneState& state = plan_.states[lane];
    return plan_.scratch[static_cast<size_t>(plan_.lanes[lane].channel)].data() +
           sum(place.slot, state.run_index) * call_.cut.pass_bytes + state.run_offset;
  }

  // --- emulated clusters: when is it done, apart from how fast this machine is? (docs/decisions/0006)
  // -------------------------

  // The last condition, and the only one that can cease to hold: a slice that leaves the host needs its network card.
  // True sets the lane's clock to when the slice is done.
  bool virtually_ready(size_t lane, const PlanStep& step) {
    LaneState& state = plan_.states[lane];
    int64_t done = state.virtual_ns;
    for (int i = 0; i < step.num_recv; ++i) done = std::max(done, recv_end(step, i).arrival_ns());
    if (step.send) done = std::max(done, step.send->slot_free_ns());
    for (int i = 0; i < step.num_dependencies; ++i)
      done = std::max(done, done_at(plan_.dependencies[sum(step.first_dependency, i)], state));
    if (step.send && step.send->crosses()) {
      const Nic::Grant grant = step.send->take_card(slice_bytes(state), done, now_ns_);
      if (!grant.taken) {
        next_event_ns_ = std::min(next_event_ns_, grant.look_again_ns);
        return false;
      }
      done = grant.start_ns;
    }
    state.virtual_ns = done;
    return true;
  }

  std::array<int64_t, kSlots / 2>& times(size_t step, size_t pass) { return plan_.step_times[step][pass % 2]; }

  int64_t done_at(const PlanDependency& dependency, const LaneState& state) {
    if (dependency.previous_pass && state.pass == 0) return 0;
    const size_t pass = state.pass - (dependency.previous_pass ? 1 : 0);
    const auto& slices =
        times(sum(plan_.lanes[static_cast<size_t>(dependency.lane)].first_step, dependency.step), pass);
    return dependency.by_slice ? slices[state.slice] : *std::max_element(slices.begin(), slices.end());
  }

  Plan& plan_;
  const BoundCall& call_;
  const bool emulated_;
  int num_open_ = 0;
  int mismatched_peer_ = -1;
  int64_t now_ns_ = 0;
  int64_t next_event_ns_ = kNever;
};

/// Counts how long nothing has moved and decides what to do about it.
class Waiter {
 public:
  Waiter(const WaitPolicy& policy, SpinBudget& budget, Doorbell& bell, Watch& watch)
      : policy_(policy), budget_(budget), bell_(bell), watch_(watch) {}

  void moved() {
    if (idle_ > 0 && idle_ <= budget_.pauses()) budget_.spinning_helped();
    idle_ = 0;
  }

  /// One wait. True if the run must stop.
  bool wait(Run& run) {
    if (watch_.attention() && inspect_now()) return true;
    ++idle_;
    if (idle_ <= budget_.pauses()) {
      pause_cpu();
      if (idle_ == budget_.pauses()) give_up_spinning();
      return false;
    }
    if (idle_ <= idle_when_yielding_ + policy_.yields) {
      sched_yield();
      return false;
    }
    return inspect_if_due() || sleep(run);
  }

 private:
  void give_up_spinning() {
    idle_when_yielding_ = idle_;
    budget_.spinning_failed();
  }

  bool sleep(Run& run) {
    const uint32_t ticket = bell_.announce_sleep();
    if (watch_.attention() || run.poll()) {  // something came between the last poll and the announcement
      bell_.cancel_sleep();
      idle_ = 0;
      return false;
    }
    const int64_t longest = now_ns() + (num_sleeps_++ < 8 ? kInspectNs : kLongestSleepNs);
    bell_.sleep(ticket, std::min(run.next_event_ns(), longest));
    return false;
  }

  bool inspect_if_due() {
    const int64_t now = now_ns();
    if (now < next_inspection_ns_) return false;
    return inspect_now();
  }

  bool inspect_now() {
    const bool stop = watch_.inspect();
    next_inspection_ns_ = now_ns() + kInspectNs;
    return stop;
  }

  const WaitPolicy& policy_;
  SpinBudget& budget_;
  Doorbell& bell_;
  Watch& watch_;
  int idle_ = 0;
  int idle_when_yielding_ = 0;
  int num_sleeps_ = 0;
  int64_t next_inspection_ns_ = now_ns() + kInspectNs;
};

}  // namespace

RunResult run_plan(Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget, Doorbell& bell,
                   bool emulated, Watch& watch) {
  Run run(plan, call, emulated);
  Waiter waiter(policy, budget, bell, watch);
  while (!run.finished()) {
    if (run.poll()) {
      if (run.mismatched_peer() >= 0) return {RunStatus::mismatch, run.mismatched_peer()};
      waiter.moved();
    } else if (waiter.wait(run)) {
      return {RunStatus::stopped, -1};
    }
  }
  return {};
}

}  // namespace ringtree
