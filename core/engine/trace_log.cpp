// See trace_log.h.
#include "core/engine/trace_log.h"

#include <algorithm>
#include <string>

namespace ringtree {

TraceLog::TraceLog(size_t capacity) {
  if (capacity == 0 || capacity > kMostEvents)
    throw UsageError("a trace has room for 1 to " + std::to_string(kMostEvents) + " events, not " +
                     std::to_string(capacity));
  events_.resize(capacity);
}

void TraceLog::begin_call(const CallDescription& description, const Plan& plan, const Cut& cut) {
  // Calls whose events are all overwritten go with them.
  while (calls_.size() > 1 && calls_[1].first <= num_lost()) calls_.pop_front();
  calls_.push_back({{description, plan.schedule, cut, plan.num_channels, false}, num_written_});
  num_lanes_ = static_cast<int>(plan.lanes.size()) / plan.num_channels;
  waits_.assign(plan.lanes.size() + 1, TraceEvent{});
  call_ = TraceEvent{};
  call_.kind = TraceKind::call;
  call_.call = description.sequence;
  call_.begin_ns = now_ns();
}

TraceEvent TraceLog::next_of(const Plan& plan, size_t lane, TraceKind kind, size_t bytes) const {
  const LaneState& state = plan.states[lane];
  const PlanLane& in_plan = plan.lanes[lane];
  TraceEvent event = of_call(kind);
  event.pass = static_cast<uint32_t>(state.pass);
  event.slice = static_cast<uint32_t>(state.slice);
  event.bytes = static_cast<uint32_t>(bytes);
  event.step = plan.program_steps[static_cast<size_t>(in_plan.first_step) + static_cast<size_t>(state.step)];
  event.channel = static_cast<int16_t>(in_plan.channel);
  event.lane = static_cast<int16_t>(static_cast<int>(lane) % num_lanes_);
  return event;
}

void TraceLog::name_awaited(const Plan& plan, size_t lane, TraceEvent& wait) {
  const LaneState& state = plan.states[lane];
  const PlanStep& step = plan.steps[static_cast<size_t>(plan.lanes[lane].first_step) + static_cast<size_t>(state.step)];
  if (wait.kind == TraceKind::message || wait.kind == TraceKind::wire) {
    wait.peer = plan.recv_ends[static_cast<size_t>(step.first_recv) + static_cast<size_t>(state.checked)]->peer();
  } else if (wait.kind == TraceKind::dependency) {
    const int index = state.checked - step.num_recv - 1;
    const PlanDependency& awaited =
        plan.dependencies[static_cast<size_t>(step.first_dependency) + static_cast<size_t>(index)];
    const PlanLane& other = plan.lanes[static_cast<size_t>(awaited.lane)];
    wait.awaited_step = plan.program_steps[static_cast<size_t>(other.first_step) + static_cast<size_t>(awaited.step)];
  }
}

Trace TraceLog::take(int rank) const {
  Trace trace;
  trace.rank = rank;
  trace.num_lost = num_lost();
  const bool is_full = num_written_ >= events_.size();
  const auto next = events_.begin() + static_cast<std::ptrdiff_t>(place_);
  if (is_full) trace.events.assign(next, events_.end());
  trace.events.insert(trace.events.end(), events_.begin(), next);
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (i + 1 < calls_.size() && calls_[i + 1].first <= trace.num_lost) continue;  // nothing is left of it
    trace.calls.push_back(calls_[i].call);
    trace.calls.back().complete &= calls_[i].first >= trace.num_lost;
  }
  return trace;
}

}  // namespace ringtree
