// How long a rank spins, yields and sleeps when none of its lanes can move. The figures are hand-offs measured on 2
// cores (docs/engine.md): with a core for every rank spinning wins; with fewer, a few pauses, then yields, then sleep
// in the kernel, or everybody stands still.
#pragma once

#include <sched.h>

#include <cstdint>

namespace ringtree {

inline constexpr int64_t kInspectNs = 1'000'000;        // between two inspections while waiting
inline constexpr int64_t kLongestSleepNs = 50'000'000;  // a sleeper looks up at least this often

struct WaitPolicy {
  int pauses = 0;
  int yields = 0;

  static WaitPolicy own_cores() { return {4000, 200}; }
  static WaitPolicy shared_cores() { return {20, 100}; }
  static WaitPolicy emulated() { return {0, 1}; }  // waits are milliseconds, and one core serves many ranks
};

inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace ringtree
