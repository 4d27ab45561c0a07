// How long a rank spins, yields and sleeps when none of its lanes can move: with a core for every rank it spins; with
// fewer it yields at once, then sleeps in the kernel, or everybody stands still.
//
// Where a rank has a core, another thread of its own may have work there: the backward pass, while the gradients of the
// layers behind it are summed. A rank that yields to it comes back a time slice later, and its peer, which has answered
// long since, has then yielded too: they meet a few slices of data at a time. One that sleeps is woken by the answer
// and runs at once, so that both work on the same call at the same time. Hence a yield that comes back late is the last
// one for a while.
#pragma once

#include <sched.h>

#include <cstdint>

namespace ringtree {

inline constexpr int64_t kInspectNs = 1'000'000;        // between two inspections while waiting
inline constexpr int64_t kLongestSleepNs = 50'000'000;  // a sleeper looks up at least this often

struct WaitPolicy {
  int pauses = 0;
  int yields = 0;
  bool fenced = true;  // how links publish (core/transport/link.h)
  /// A yield that takes longer let other work of the core run, and not a rank that this one waits for. 0: it may be
  /// such a rank, and yields go on. Without other work a yield takes a microsecond, beside a kernel's thread some more.
  int64_t late_yield_ns = 0;

  static WaitPolicy own_cores(bool fenced) { return {4000, 200, fenced, 50'000}; }
  static WaitPolicy shared_cores() { return {0, 100, true}; }
  /// To be woken from the kernel's sleep takes longer than most messages between hosts.
  static WaitPolicy shared_cores_on_hosts() { return {0, 2000, true}; }
  static WaitPolicy emulated() { return {0, 1, true}; }  // waits are milliseconds, and one core serves many ranks
};

/// How many pauses a wait is worth just now: halved by each wait that they did not end, doubled by each that they did,
/// so that a rank whose peer has lost its core to somebody else's process soon gives way to it. And how many yields:
/// none after one that came back late, all again after some sleeps, to see whether the core is free by now. Kept from
/// call to call.
class SpinBudget {
 public:
  explicit SpinBudget(const WaitPolicy& policy)
      : most_(policy.pauses), now_(policy.pauses), most_yields_(policy.yields), yields_(policy.yields) {}
  int pauses() const { return now_; }
  void spinning_helped() { now_ = now_ * 2 < most_ ? now_ * 2 + 1 : most_; }
  void spinning_failed() { now_ = now_ > 2 * kLeast ? now_ / 2 : (now_ < kLeast ? now_ : kLeast); }

  int yields() const { return yields_; }
  void yielding_was_late() {
    yields_ = 0;
    sleeps_left_ = kSleepsWithoutYields;
  }
  void slept() {
    if (sleeps_left_ == 0) return;
    --sleeps_left_;
    if (sleeps_left_ == 0) yields_ = most_yields_;
  }

  /// A late yield costs a time slice, some milliseconds; so many sleeps without any cost a few microseconds each.
  static constexpr int kSleepsWithoutYields = 64;

 private:
  static constexpr int kLeast = 20;
  int most_, now_;
  int most_yields_, yields_;
  int sleeps_left_ = 0;  // until yields are tried again; 0: they are allowed
};

}  // namespace ringtree
