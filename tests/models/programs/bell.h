// The doorbell (core/transport/doorbell.h) over the explorer's atomics and its futex, line for line; the real one calls
// the kernel itself. Links take it as their bell.
#pragma once

#include <cstdint>

#include "tests/models/explorer/explorer.h"
#include "tests/models/explorer/policy.h"

namespace ringtree::explorer {

class ExploredBell {
 public:
  void ring() {
    if (sleeping_.load(std::memory_order_seq_cst) != 0) wake();
  }
  uint32_t announce_sleep(bool fenced) {
    const uint32_t ticket = bell_.load(std::memory_order_acquire);
    sleeping_.store(1, std::memory_order_seq_cst);
    if (!fenced) fence_everybody();
    return ticket;
  }
  void cancel_sleep() { sleeping_.store(0, std::memory_order_relaxed); }
  /// Without a deadline: who is not woken sleeps for ever, and that is a deadlock.
  void sleep(uint32_t ticket) {
    sleep_if(bell_, ticket);
    sleeping_.store(0, std::memory_order_relaxed);
  }
  void wake() {
    bell_.fetch_add(1, std::memory_order_release);
    wake_all(bell_);
  }

  void name_all(Program& program, const std::string& owner) {
    program.name(&bell_, sizeof bell_, "bell of " + owner);
    program.name(&sleeping_, sizeof sleeping_, "sleeping");
  }

 private:
  ExploredAtomic<uint32_t> bell_{0};
  ExploredAtomic<uint32_t> sleeping_{0};
};

/// A bell that wakes nobody: for ranks that poll.
struct SilentBell {
  void ring() {}
  void name_all(Program&, const std::string&) {}
};

/// Faults of whoever sleeps.
struct SleepUse {
  bool without_second_look = false;
};

/// Waits for `ready`, polling.
template <class Ready>
void await(SilentBell&, bool, const SleepUse&, const Ready& ready) {
  wait_until(ready);
}
/// Waits for `ready` as core/engine/waiter.h does that has no patience: asleep.
template <class Ready>
void await(ExploredBell& bell, bool fenced, const SleepUse& use, const Ready& ready) {
  while (!ready()) {
    const uint32_t ticket = bell.announce_sleep(fenced);
    if (!use.without_second_look && ready()) return bell.cancel_sleep();
    bell.sleep(ticket);
  }
}

}  // namespace ringtree::explorer
