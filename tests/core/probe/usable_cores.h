// Cores for the tests of probes. Not how probes choose theirs: that is Python's.
#pragma once

#include <sched.h>

#include <vector>

namespace ringtree {

inline constexpr int kImpossibleCore = 60'000;  // no kernel is built for so many
inline constexpr double kPatient = 20;          // seconds; a busy machine must not fail a test

inline std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

}  // namespace ringtree
