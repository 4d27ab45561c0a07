// One run of a small call, step by step: what Run (run.h) does slice by slice for others. Of such a call the engine's
// own share is the larger part, so what can be is worked out before (WholeStep); figures: docs/decisions/0043.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/engine/bound_call.h"
#include "core/engine/in_place.h"
#include "core/engine/messages.h"
#include "core/engine/plan.h"
#include "core/engine/progress.h"
#include "core/engine/slice.h"
#include "core/engine/trace.h"
#include "core/engine/waiter.h"

namespace ringtree {

/// `Tracer`: as Run's. Emulated clusters run slices only.
template <Protocol kProtocol, class Tracer>
class WholeRun {
 public:
  WholeRun(Plan& plan, const BoundCall& call, Tracer tracer)
      : plan_(plan),
        call_(call),
        steps_(call.whole_steps.data()),
        lanes_(plan.lanes.data()),
        states_(plan.states.data()),
        num_lanes_(plan.lanes.size()),
        num_open_(num_lanes_),
        // Program forbids input as dst. Of scratch WholeStep has addresses.
        bases_{nullptr, const_cast<std::byte*>(call.input), call.output, nullptr},
        in_place_(call),
        tracer_(tracer) {
    for (size_t i = 0; i < num_lanes_; ++i) {
      LaneState& state = states_[i];
      state.pass = state.slice = 0;
      state.step = state.checked = 0;
      if constexpr (Wire::kFlagged) state.seen = 0;
      if (lanes_[i].num_steps == 0) end_lane(state);
    }
  }

  bool finished() {
    if (num_open_ > 0) return false;
    const bool is_read = in_place_.all_read(plan_);
    if constexpr (Tracer::kOn) {
      if (!is_read) tracer_.log.unread();
    }
    return is_read;
  }
  int mismatched_peer() const { return mismatched_peer_; }
  static size_t num_answers() { return 0; }
  size_t done_bytes() const { return bytes_done(plan_, call_); }
  static int64_t next_event_ns() { return kNever; }

  /// Advances every lane as far as it goes. True if anything moved, or if a message of another call came.
  bool poll() {
    bool moved = false;
    for (size_t i = 0; i < num_lanes_; ++i) {
      LaneState& state = states_[i];
      while (state.pass == 0) {
        const WholeStep& step = steps_[lanes_[i].first_step + state.step];
        if (!ready(step, state)) {
          if constexpr (Tracer::kOn) tracer_.log.blocked(plan_, i, awaited(step, state), step.bytes);
          break;
        }
        if constexpr (Tracer::kOn) tracer_.log.begin_slice(plan_, i, step.bytes);
        step.in_lines ? do_step_in_lines(step) : do_step(step);
        if constexpr (Tracer::kOn) tracer_.log.end_slice();
        state.checked = 0;
        if (++state.step == lanes_[i].num_steps) end_lane(state);
        moved = true;
      }
    }
    return moved || mismatched_peer_ >= 0;
  }

  /// Traced runs: this rank slept since `begin_ns`.
  void slept_since(int64_t begin_ns)
    requires(Tracer::kOn)
  {
    tracer_.log.slept_since(begin_ns);
  }

 private:
  using Wire = Messages<kProtocol>;

  void end_lane(LaneState& state) {
    state.pass = 1;
    --num_open_;
  }

  // --- may the next step go?

  bool ready(const WholeStep& step, LaneState& state) {
    for (; state.checked < step.num_recv; ++state.checked) {
      if (!message_there(step, *step.recv[state.checked], state)) return false;
      if constexpr (Wire::kFlagged) state.seen = 0;
    }
    if (state.checked == step.num_recv) {
      if (step.send && !(step.in_lines ? step.send->has_free_line() : step.send->has_free_slot())) return false;
      ++state.checked;
    }
    for (; state.checked - step.num_recv - 1 < step.num_dependencies; ++state.checked)
      if (!met(step.dependencies[state.checked - step.num_recv - 1])) return false;
    return !step.send || step.in_lines || step.send->still_has_slot();
  }

  bool message_there(const WholeStep& step, RecvEnd& end, LaneState& state) {
    if (step.in_lines) {
      if (end.has_line_message(call_.fingerprint)) return true;
      if (end.has_other_message()) mismatched_peer_ = end.peer();
      return false;
    }
    const Arrival arrival = Wire::look(end, step.bytes, call_.fingerprint, state.seen, false);
    if (arrival == Arrival::of_another_call) mismatched_peer_ = end.peer();
    return arrival == Arrival::here;
  }

  // There is one pass, in which every step is one slice: nothing waits for a pass before.
  bool met(const PlanDependency& dependency) const {
    return dependency.previous_pass || states_[dependency.lane].step > dependency.step;
  }

  /// What the lane waits for after ready() has said no, for a trace.
  static TraceKind awaited(const WholeStep& step, const LaneState& state) {
    if (state.checked < step.num_recv) return TraceKind::message;
    const bool waits_for_slot = state.checked == step.num_recv || state.checked > step.num_recv + step.num_dependencies;
    return waits_for_slot ? TraceKind::slot : TraceKind::dependency;
  }

  // --- do it

  const std::byte* own_of(const WholeStep& step) const {
    return step.src_base != 0 ? bases_[step.src_base] + step.src : nullptr;
  }
  std::byte* target_of(const WholeStep& step) const {
    return step.dst_base != 0 ? bases_[step.dst_base] + step.dst : nullptr;
  }

  void do_step_in_lines(const WholeStep& step) {
    std::byte* const dst = target_of(step);
    std::byte* const line = step.send ? step.send->line_room() : nullptr;
    std::byte* const to = dst ? dst : line;
    if (step.reduces) {
      if (step.items > 0) fold_in_lines(step, to);
    } else {
      copy_few(to, step.num_recv > 0 ? step.recv[0]->line_data() : own_of(step), step.bytes);
    }
    if (step.send) {
      copy_few(line, to, step.bytes);
      step.send->publish_line(call_.fingerprint, step.bytes);
      step.send->look_early();
    }
    for (int i = 0; i < step.num_recv; ++i) step.recv[i]->release(false, 0);
  }

  void fold_in_lines(const WholeStep& step, std::byte* to) {
    const std::byte* const own = own_of(step);
    if (step.num_recv != 1 || !own) return fold_many_in_lines(step, own, to);
    std::array<const void*, 2> inputs{own, step.recv[0]->line_data()};
    if (step.src_at > 0) std::swap(inputs[0], inputs[1]);
    call_.fold(to, inputs.data(), 2, step.items);
  }
  // Apart, since its frame is large.
  [[gnu::noinline]] void fold_many_in_lines(const WholeStep& step, const std::byte* own, std::byte* to) {
    const Operands operands =
        assemble(step, own, to, [&](Operands& all, int i) { all.add_own(step.recv[i]->line_data()); });
    call_.fold(to, operands.data(), operands.size(), step.items);
  }

  void do_step(const WholeStep& step) {
    const std::byte* const own = own_of(step);
    SliceRun run;
    run.bytes = step.bytes;
    run.dst = target_of(step);
    run.stream_dst = call_.stream_output && step.dst_base == static_cast<uint8_t>(Buffer::output);
    const Operands operands = assemble(step, own, run.dst, [&](Operands& all, int i) {
      all.add(Wire::take(plan_, *step.step, *step.recv[i], i, step.bytes, step.bytes));
    });
    const std::byte* const at = run.dst ? run.dst : own;
    const bool stays = !Wire::kFlagged && step.send && at && in_place_.may_send(*step.step, step.bytes);
    if (step.send && !stays) run.slot = Wire::room(plan_, *step.step, step.bytes);
    operands.give_to(run);
    if (step.reduces) {
      fold_run(run, call_.fold, call_.item_bytes);
    } else {
      copy_run(run);
    }
    if (stays) {
      in_place_.send(*step.step, at, step.bytes, call_.fingerprint, false);
    } else if (step.send) {
      Wire::send(*step.send, run.slot, step.bytes, call_.fingerprint, 0, false);
      if constexpr (!Wire::kFlagged) step.send->look_early();
    }
    for (int i = 0; i < step.num_recv; ++i) step.recv[i]->release(false, 0);
  }

  static void copy_few(std::byte* to, const std::byte* from, size_t bytes) {
    if (to && to != from && bytes > 0) std::memcpy(to, from, bytes);  // of no bytes `from` may be null
  }

  Plan& plan_;
  const BoundCall& call_;
  const WholeStep* const steps_;
  const PlanLane* const lanes_;
  LaneState* const states_;
  const size_t num_lanes_;
  size_t num_open_;
  int mismatched_peer_ = -1;
  const std::array<std::byte*, 4> bases_;  // by Buffer
  InPlace in_place_;
  [[no_unique_address]] Tracer tracer_;
};

}  // namespace ringtree
