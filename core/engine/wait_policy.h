// How long a rank spins, yields and sleeps when none of its lanes can move: with a core for every rank it spins; with
// fewer it yields at once, then sleeps in the kernel, or everybody stands still.
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

  static WaitPolicy own_cores(bool fenced) { return {4000, 200, fenced}; }
  static WaitPolicy shared_cores() { return {0, 100, true}; }
  /// To be woken from the kernel's sleep takes longer than most messages between hosts.
  static WaitPolicy shared_cores_on_hosts() { return {0, 2000, true}; }
  static WaitPolicy emulated() { return {0, 1, true}; }  // waits are milliseconds, and one core serves many ranks
};

/// How many pauses a wait is worth just now: halved by each wait that they did not end, doubled by each that they did,
/// so that a rank whose peer has lost its core to somebody else's process soon gives way to it. Kept from call to call.
class SpinBudget {
 public:
  explicit SpinBudget(const WaitPolicy& policy) : most_(policy.pauses), now_(policy.pauses) {}
  int pauses() const { return now_; }
  void spinning_helped() { now_ = now_ * 2 < most_ ? now_ * 2 + 1 : most_; }
  void spinning_failed() { now_ = now_ > 2 * kLeast ? now_ / 2 : (now_ < kLeast ? now_ : kLeast); }

 private:
  static constexpr int kLeast = 20;
  int most_, now_;
};

}  // namespace ringtree
