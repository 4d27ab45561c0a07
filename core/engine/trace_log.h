// Where a traced run (run.h) writes down what it does: a ring of events whose memory is there before the first call, so
// that writing allocates nothing. When it is full the newest event takes the place of the oldest.
//
// Used by the thread that calls. The clock is read twice a slice step and once a change of what a lane waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/base/clock.h"
#include "core/engine/plan.h"
#include "core/engine/trace.h"

namespace ringtree {

class TraceLog {
 public:
  /// Room for `capacity` events. Throws UsageError for none or more than kMostEvents.
  explicit TraceLog(size_t capacity);

  static constexpr size_t kMostEvents = size_t{1} << 24;  // a gigabyte

  /// The calls that follow are those of `plan`, cut so. Not on the data path: it may allocate.
  void begin_call(const CallDescription& description, const Plan& plan, const Cut& cut);

  // --- on the data path

  /// The lane's next slice step, of `bytes` bytes, cannot go; `why` is of the condition that LaneState::checked counts.
  void blocked(const Plan& plan, size_t lane, TraceKind why, size_t bytes) {
    TraceEvent now = next_of(plan, lane, why, bytes);
    name_awaited(plan, lane, now);
    TraceEvent& open = waits_[lane];
    if (is_open(open) && open.kind == now.kind && open.peer == now.peer && open.awaited_step == now.awaited_step)
      return;
    now.begin_ns = now_ns();
    close(open, now.begin_ns);
    open = now;
  }
  /// The lane's next slice step goes.
  void begin_slice(const Plan& plan, size_t lane, size_t bytes) {
    slice_ = next_of(plan, lane, TraceKind::step, bytes);
    slice_.virtual_ns = plan.states[lane].virtual_ns;
    slice_.begin_ns = now_ns();
    close(waits_[lane], slice_.begin_ns);
  }
  void end_slice() {
    slice_.end_ns = now_ns();
    write(slice_);
  }
  /// All lanes are done but peers still read in place.
  void unread() {
    TraceEvent& open = waits_.back();
    if (is_open(open)) return;
    open = of_call(TraceKind::readers);
    open.begin_ns = now_ns();
  }
  void slept_since(int64_t begin_ns) {
    TraceEvent event = of_call(TraceKind::sleep);
    event.begin_ns = begin_ns;
    event.end_ns = now_ns();
    write(event);
  }
  /// The run has ended: so have all waits.
  void finish(bool well) {
    call_.end_ns = now_ns();
    for (TraceEvent& open : waits_) close(open, call_.end_ns);
    write(call_);
    calls_.back().call.complete = well;
  }

  // --- afterwards

  /// What was written, the oldest first.
  Trace take(int rank) const;

 private:
  struct Call {
    TracedCall call;
    uint64_t first = 0;  // number of its first event
  };

  static bool is_open(const TraceEvent& wait) { return wait.begin_ns != 0; }

  void close(TraceEvent& wait, int64_t ns) {
    if (!is_open(wait)) return;
    wait.end_ns = ns;
    write(wait);
    wait.begin_ns = 0;
  }
  void write(const TraceEvent& event) {
    events_[place_] = event;
    place_ = place_ + 1 == events_.size() ? 0 : place_ + 1;
    ++num_written_;
  }
  TraceEvent of_call(TraceKind kind) const {
    TraceEvent event;
    event.kind = kind;
    event.call = call_.call;
    return event;
  }
  /// Without times.
  TraceEvent next_of(const Plan& plan, size_t lane, TraceKind kind, size_t bytes) const;
  /// Of a message or a dependency: whose, which.
  static void name_awaited(const Plan& plan, size_t lane, TraceEvent& wait);

  uint64_t num_lost() const { return num_written_ > events_.size() ? num_written_ - events_.size() : 0; }

  std::vector<TraceEvent> events_;
  size_t place_ = 0;  // of the next event
  uint64_t num_written_ = 0;
  std::vector<TraceEvent> waits_;  // that are open, by lane of the plan; the last: of no lane
  TraceEvent slice_, call_;        // under way
  int num_lanes_ = 1;              // of one channel
  std::deque<Call> calls_;
};

}  // namespace ringtree
