// See doorbell.h. The futex is not private: ranks may be processes.
#include "core/transport/doorbell.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace ringtree {

void Doorbell::sleep(uint32_t ticket, int64_t until_ns) {
  timespec until{until_ns / 1'000'000'000, static_cast<long>(until_ns % 1'000'000'000)};
  // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time, so a late start does not lengthen the wait.
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&bell_), FUTEX_WAIT_BITSET, ticket, &until, nullptr,
          FUTEX_BITSET_MATCH_ANY);
  sleeping_.store(0, std::memory_order_relaxed);
}

void Doorbell::wake() {
  bell_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in announce_sleep()
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&bell_), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void use_exact_timers() {
  thread_local bool done = false;
  if (!done) prctl(PR_SET_TIMERSLACK, 1UL);
  done = true;
}

}  // namespace ringtree
