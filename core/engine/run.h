// One run of a plan: advances every lane by non-blocking slice steps (executor.h says what callers see of it). In a
// header because it is compiled twice: for runs that are not traced (executor.cpp) and that are (executor_traced.cpp).
//
// A Tracer says which: `kOn` is constant, and where it is false nothing of a trace is compiled. Where it is true, `log`
// is the TraceLog (trace_log.h) that is told what happens.
#pragma once

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/stream_copy.h"
#include "core/engine/executor.h"
#include "core/engine/in_place.h"
#include "core/engine/lanes.h"
#include "core/engine/messages.h"
#include "core/engine/progress.h"
#include "core/engine/slice.h"
#include "core/engine/trace.h"
#include "core/engine/virtual_time.h"
#include "core/engine/waiter.h"

namespace ringtree {

/// What depends on the protocol or on emulation is decided when this is compiled, so that a slice step of the others
/// does not pay for it. Small calls have a run of their own (whole_run.h).
template <Protocol kProtocol, bool kEmulated, class Tracer>
class Run {
 public:
  Run(Plan& plan, const BoundCall& call, Tracer tracer)
      : plan_(plan), call_(call), in_place_(call), time_(plan), tracer_(tracer) {
    const int64_t start_ns = kEmulated ? now_ns() : 0;
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

  /// Every lane is done, and what peers read in this rank's buffers they have read.
  bool finished() {
    if (num_open_ > 0) return false;
    const bool is_read = in_place_.all_read(plan_);
    if constexpr (Tracer::kOn) {
      if (!is_read) tracer_.log.unread();
    }
    return is_read;
  }
  int mismatched_peer() const { return mismatched_peer_; }
  size_t num_answers() const { return num_answers_; }
  size_t done_bytes() const { return bytes_done(plan_, call_); }
  int64_t next_event_ns() const { return kEmulated ? time_.next_event_ns() : kNever; }

  /// Advances every lane as far as it goes. True if anything moved.
  bool poll() { return poll_at(kEmulated ? now_ns() : 0); }
  /// The same at a time of the caller's, which matters to emulated clusters only.
  bool poll_at(int64_t now_ns) {
    bool moved = false;
    if constexpr (kEmulated) time_.begin_poll(now_ns);
    for (size_t i = 0; i < plan_.lanes.size(); ++i) {
      while (plan_.states[i].pass < call_.cut.num_passes && ready(i)) {
        if constexpr (Tracer::kOn) tracer_.log.begin_slice(plan_, i, slice_bytes(i));
        do_slice(i);
        if constexpr (Tracer::kOn) tracer_.log.end_slice();
        moved = true;
      }
      if constexpr (Tracer::kOn) {
        if (plan_.states[i].pass < call_.cut.num_passes) tracer_.log.blocked(plan_, i, awaited(i), slice_bytes(i));
      }
      if (mismatched_peer_ >= 0) return true;  // counts as moved: the caller looks
    }
    return moved;
  }

  /// Traced runs: this rank slept since `begin_ns`.
  void slept_since(int64_t begin_ns)
    requires(Tracer::kOn)
  {
    tracer_.log.slept_since(begin_ns);
  }

 private:
  using Wire = Messages<kProtocol>;

  // Widened before adding: an index into a plan may pass what an int holds.
  static constexpr size_t sum(int a, int b) { return static_cast<size_t>(a) + static_cast<size_t>(b); }

  const PlanStep& step_of(size_t lane) const {
    return plan_.steps[sum(plan_.lanes[lane].first_step, plan_.states[lane].step)];
  }

  RecvEnd& recv_end(const PlanStep& step, int index) const { return *plan_.recv_ends[sum(step.first_recv, index)]; }

  // --- cutting

  /// False if the step has nothing to do in this pass.
  bool begin_step(size_t lane) {
    LaneState& state = plan_.states[lane];
    const PlanStep& step = step_of(lane);
    const StepCut cut = cut_step(call_, step, plan_.lanes[lane].channel, state.pass);
    if (cut.skipped(state.pass)) {
      if constexpr (kEmulated) time_.note_skipped(state, step);
      return false;
    }
    state.fingerprint = cut.fingerprint;
    state.step_bytes = cut.bytes;
    state.num_slices = cut.num_slices;
    state.slice = 0;
    state.run_index = 0;
    state.run_offset = 0;
    return true;
  }

  const BoundCall::Part& part(size_t lane, const PlanStep& step, int index) const {
    return part_of(call_, step, plan_.lanes[lane].channel, index);
  }

  // --- may the next slice step go?

  bool ready(size_t lane) {
    LaneState& state = plan_.states[lane];
    const PlanStep& step = step_of(lane);
    while (state.checked < step.num_recv) {
      if (!message_there(step, recv_end(step, state.checked), state, slice_bytes(lane))) return false;
      ++state.checked;
      state.seen = 0;
    }
    if (state.checked == step.num_recv) {
      if (step.send && !step.send->has_free_slot()) return false;
      ++state.checked;
    }
    while (state.checked - step.num_recv - 1 < step.num_dependencies) {
      const PlanDependency& dependency =
          plan_.dependencies[sum(step.first_dependency, state.checked - step.num_recv - 1)];
      if (!met(plan_, dependency, state.pass, state.slice)) return false;
      ++state.checked;
    }
    if constexpr (kEmulated) return time_.ready(state, step, slice_bytes(lane));
    return !step.send || step.send->still_has_slot();
  }

  /// What the lane waits for after ready() has said no, for a trace.
  TraceKind awaited(size_t lane) {
    const int checked = plan_.states[lane].checked;
    const PlanStep& step = step_of(lane);
    if (checked < step.num_recv) {
      const bool under_way = kEmulated && recv_end(step, checked).has_message();
      return under_way ? TraceKind::wire : TraceKind::message;
    }
    if (checked == step.num_recv) return TraceKind::slot;
    if (checked - step.num_recv - 1 < step.num_dependencies) return TraceKind::dependency;
    return kEmulated ? TraceKind::card : TraceKind::slot;  // the slot that there was went to another lane
  }

  bool message_there(const PlanStep& step, RecvEnd& end, LaneState& state, size_t bytes) {
    const bool takes_answer = step.direct.takes_answer && call_.answered;
    const Arrival arrival = Wire::look(end, bytes, state.fingerprint, state.seen, takes_answer);
    if (arrival == Arrival::of_another_call) mismatched_peer_ = end.peer();
    if (arrival != Arrival::here) return false;
    return !kEmulated || time_.has_arrived(end);
  }

  // --- do it

  size_t slice_bytes(size_t lane) const {
    const LaneState& state = plan_.states[lane];
    return std::min(call_.cut.slice_bytes, state.step_bytes - state.slice * call_.cut.slice_bytes);
  }

  void do_slice(size_t lane) {
    LaneState& state = plan_.states[lane];
    const PlanStep& step = step_of(lane);
    const size_t bytes = slice_bytes(lane);
    if constexpr (kEmulated) time_.note(state, step);
    Slice slice;
    slice.answers = can_answer(step);
    for (int i = 0; i < step.num_recv; ++i)
      slice.arrived[static_cast<size_t>(i)] = arrived(lane, step, i, bytes, slice.answers);
    const std::byte* in_place = nullptr;
    if (step.send && step.direct.from != Buffer::none && !slice.answers && may_send_in_place(step, bytes))
      in_place = locate(lane, {step.direct.from, 0}, part(lane, step, state.run_index));
    if (step.send && !in_place && !slice.answers) slice.leaving = Wire::room(plan_, step, bytes);
    if constexpr (!Wire::kFlagged && !kEmulated) {
      slice.streams_leaving = slice.leaving && streams_slot(step, part(lane, step, 0).length);
      slice.streams_dst = !call_.cache_output && step.num_recv == 1 && !step.reduces && recv_end(step, 0).is_streamed();
    }
    move_bytes(lane, step, bytes, slice);
    if (slice.streams_leaving || slice.streams_dst) stream_fence();
    if (slice.answers) {
      step.send->publish_answer(state.fingerprint);
      consume(step, state.virtual_ns);
    } else {
      leave(step, in_place, slice.leaving, slice.streams_leaving, bytes, state.fingerprint, state.virtual_ns);
    }
    state.checked = 0;
    if (++state.slice == state.num_slices) next_step(lane);
  }

  /// All whose operands the step folds wait for the result where those lie.
  bool can_answer(const PlanStep& step) const {
    if constexpr (Wire::kFlagged || kEmulated) return false;
    if (!step.direct.answers) return false;
    for (int i = 0; i < step.num_recv; ++i)
      if (!recv_end(step, i).may_answer()) return false;
    return true;
  }

  Operand arrived(size_t lane, const PlanStep& step, int index, size_t bytes, bool answers) {
    RecvEnd& end = recv_end(step, index);
    if constexpr (!Wire::kFlagged && !kEmulated) {
      if (answers) return {end.data(), true};
      if (end.is_answer()) {  // the peer wrote it where the step would put it, which then has nothing to do
        ++num_answers_;
        return {locate(lane, step.dst, part(lane, step, plan_.states[lane].run_index)), false};
      }
    }
    return Wire::take(plan_, step, end, index, bytes, part(lane, step, 0).length);
  }

  /// The step's message leaves, and those that came are consumed.
  void leave(const PlanStep& step, const std::byte* in_place, const std::byte* in_slot, bool streamed, size_t bytes,
             uint32_t fingerprint, int64_t ns) {
    if (in_place) {
      in_place_.send(step, in_place, bytes, fingerprint, step.direct.answered && call_.answered);
    } else if (step.send) {
      Wire::send(*step.send, in_slot, bytes, fingerprint, ns, streamed);
    }
    consume(step, ns);
  }

  void consume(const PlanStep& step, int64_t ns) {
    for (int i = 0; i < step.num_recv; ++i) recv_end(step, i).release(kEmulated, ns);
  }

  bool may_send_in_place(const PlanStep& step, size_t bytes) const {
    return !Wire::kFlagged && !kEmulated && in_place_.may_send(step, bytes);
  }

  void next_step(size_t lane) {
    LaneState& state = plan_.states[lane];
    do {
      if (++state.step == plan_.lanes[lane].num_steps) {
        state.step = 0;
        if (++state.pass == call_.cut.num_passes) {
          --num_open_;
          return;
        }
      }
    } while (!begin_step(lane));
  }

  // The slice is a run of the step's chunks laid end to end; it may begin and end within chunks and span small ones.
  void move_bytes(size_t lane, const PlanStep& step, size_t bytes, const Slice& slice) {
    LaneState& state = plan_.states[lane];
    size_t done = 0;
    while (done < bytes) {
      const BoundCall::Part& where = part(lane, step, state.run_index);
      const size_t piece = call_.piece_bytes(where.length, state.pass);
      const size_t run = std::min(piece - state.run_offset, bytes - done);
      if (run > 0) move_run(lane, step, where, done, run, slice);
      done += run;
      state.run_offset += run;
      if (state.run_offset == piece) {
        ++state.run_index;
        state.run_offset = 0;
      }
    }
  }

  /// `where`: the part whose bytes are next; `in_slice`: byte in the slice.
  void move_run(size_t lane, const PlanStep& step, const BoundCall::Part& where, size_t in_slice, size_t bytes,
                const Slice& slice) {
    const std::byte* src = step.src ? locate(lane, step.src, where) : nullptr;
    SliceRun run;
    run.dst = step.dst ? locate(lane, step.dst, where) : nullptr;
    const Operands operands = assemble(
        step, src, run.dst, [&](Operands& to, int i) { to.add(slice.arrived[static_cast<size_t>(i)], in_slice); });
    operands.give_to(run);
    run.into_inputs = slice.answers;
    run.stream_dst = (call_.stream_output || slice.streams_dst) && step.dst.buffer == Buffer::output;
    run.slot = slice.leaving ? slice.leaving + in_slice : nullptr;
    run.stream_slot = slice.streams_leaving;
    run.bytes = bytes;
    fold_or_copy(step, run, call_);
  }

  /// Where the lane is in a part.
  std::byte* locate(size_t lane, const Place& place, const BoundCall::Part& where) {
    const LaneState& state = plan_.states[lane];
    const size_t inside = state.pass * call_.cut.pass_bytes + state.run_offset;
    switch (place.buffer) {
      case Buffer::input:
        return const_cast<std::byte*>(call_.input) + where.input + inside;  // only read: Program forbids it as dst
      case Buffer::output:
        return call_.output + where.output + inside;
      default:
        break;
    }
    // A scratch slot begins with the piece's first byte of this pass.
    return plan_.scratch[static_cast<size_t>(plan_.lanes[lane].channel)].data() +
           sum(place.slot, state.run_index) * call_.cut.pass_bytes + state.run_offset;
  }

  Plan& plan_;
  const BoundCall& call_;
  int num_open_ = 0;
  int mismatched_peer_ = -1;
  size_t num_answers_ = 0;
  InPlace in_place_;
  VirtualTime time_;
  [[no_unique_address]] Tracer tracer_;
};

}  // namespace ringtree
