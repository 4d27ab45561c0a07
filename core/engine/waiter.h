// What a rank does while none of its lanes can move: spin, yield, sleep, and look now and then whether to go on at all;
// and the loop around it.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/base/clock.h"
#include "core/base/pause_cpu.h"
#include "core/engine/executor.h"
#include "core/engine/wait_policy.h"
#include "core/transport/doorbell.h"
#include "core/transport/tcp_port.h"

namespace ringtree {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// Counts how long nothing has moved and decides what to do about it. One a call.
class Waiter {
 public:
  Waiter(const WaitPolicy& policy, SpinBudget& budget, const Inlets& inlets, Watch& watch)
      : policy_(policy), budget_(budget), bell_(inlets.bell), port_(inlets.port), watch_(watch) {}

  void moved() {
    if (idle_ > 0 && idle_ <= budget_.pauses()) budget_.spinning_helped();
    idle_ = 0;
  }

  /// Whether what was published for other hosts is with the kernel: nobody sends it once the call has ended.
  bool flushed() const { return !port_ || port_->flushed(); }

  /// One wait. True if the run must stop. `run` polls once more before the rank sleeps.
  template <class Run>
  bool wait(Run& run) {
    if (!waits_) {
      waits_ = true;
      watch_.before_waits();
    }
    if (watch_.attention() && inspect_now(run)) return true;
    if (port_ && port_->progress()) {
      moved();
      return false;
    }
    ++idle_;
    if (idle_ <= budget_.pauses()) {
      pause_cpu();
      if (idle_ == budget_.pauses()) give_up_spinning();
      return false;
    }
    if (idle_ <= idle_when_yielding_ + budget_.yields()) {
      yield();
      return false;
    }
    return inspect_if_due(run) || sleep(run);
  }

 private:
  void yield() {
    if (policy_.late_yield_ns == 0) {
      sched_yield();
      return;
    }
    const int64_t begin_ns = now_ns();
    sched_yield();
    if (now_ns() - begin_ns > policy_.late_yield_ns) budget_.yielding_was_late();
  }

  void give_up_spinning() {
    idle_when_yielding_ = idle_;
    budget_.spinning_failed();
  }

  template <class Run>
  bool sleep(Run& run) {
    const uint32_t ticket = bell_.announce_sleep(policy_.fenced);
    if (watch_.attention() || run.poll() ||
        (port_ && port_->progress())) {  // something came between the last poll and the announcement
      bell_.cancel_sleep();
      idle_ = 0;
      return false;
    }
    budget_.slept();
    const int64_t begin_ns = now_ns();
    const int64_t longest = begin_ns + (num_sleeps_++ < 8 ? kInspectNs : kLongestSleepNs);
    if (port_) {
      port_->sleep(longest);  // emulated clusters have no port, and nothing else is timed
      bell_.cancel_sleep();
    } else {
      bell_.sleep(ticket, std::min(run.next_event_ns(), longest));
    }
    if constexpr (requires { run.slept_since(begin_ns); }) run.slept_since(begin_ns);  // a run that is traced
    return false;
  }

  template <class Run>
  bool inspect_if_due(const Run& run) {
    const int64_t now = now_ns();
    if (next_inspection_ns_ == 0) next_inspection_ns_ = now + kInspectNs;  // the first look: no clock was read before
    if (now < next_inspection_ns_) return false;
    return inspect_now(run);
  }

  template <class Run>
  bool inspect_now(const Run& run) {
    watch_.note_progress(run.done_bytes());
    const bool stop = watch_.inspect();
    next_inspection_ns_ = now_ns() + kInspectNs;
    return stop;
  }

  const WaitPolicy& policy_;
  SpinBudget& budget_;
  Doorbell& bell_;
  TcpPort* const port_;
  Watch& watch_;
  bool waits_ = false;  // or has waited
  int idle_ = 0;
  int idle_when_yielding_ = 0;
  int num_sleeps_ = 0;
  int64_t next_inspection_ns_ = 0;
};

/// Polls `run` until it is finished, waiting in between as `waiter` does.
template <class Run>
RunResult drive(Run& run, Waiter& waiter, Watch& watch) {
  run.poll();
  watch.first_wait();
  if (run.mismatched_peer() >= 0) return {RunStatus::mismatch, run.mismatched_peer()};
  while (!run.finished() || !waiter.flushed()) {
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
