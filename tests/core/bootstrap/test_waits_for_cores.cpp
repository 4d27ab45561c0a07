// What WaitsForCores counts: processes that share a core wait for it, one that sleeps does not.
#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <string>

#include "core/base/clock.h"
#include "tests/core/bootstrap/child_process.h"
#include "tests/core/bootstrap/waits_for_cores.h"

namespace ringtree::testing {
namespace {

using Pipe = ChildProcess::Pipe;

/// "S" once it sleeps.
std::string state_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  file >> number >> name >> state;
  return state;
}

TEST(WaitsForCores, counts_who_shares_a_core_and_not_who_sleeps) {
  if (!std::ifstream("/proc/self/schedstat")) GTEST_SKIP() << "this Linux does not count";
  std::vector<ChildProcess> processes;
  for (int i = 0; i < 2; ++i)
    processes.emplace_back([](const Pipe& pipe) {
      cpu_set_t cores;
      ::sched_getaffinity(0, sizeof cores, &cores);
      int core = 0;
      while (!CPU_ISSET(core, &cores)) ++core;
      CPU_ZERO(&cores);
      CPU_SET(core, &cores);
      ::sched_setaffinity(0, sizeof cores, &cores);
      pipe.say("up");
      for (volatile bool spins = true; spins;) continue;  // until it is killed
      return 0;
    });
  processes.emplace_back([](const Pipe& pipe) {
    pipe.hear();
    return 0;
  });
  for (size_t i = 0; i < 2; ++i) ASSERT_EQ(processes[i].pipe().hear(), "up");
  while (state_of(processes[2].pid()) != "S") ::sched_yield();
  // Under ThreadSanitizer the sleeper has a thread that wakes up now and then and may wait: not every time.
  const Deadline deadline = patience();
  int64_t of_both_ns = 0, own_ns = 0, with_sleeper_ns = 0;
  do {
    const WaitsForCores waits(processes);
    do {
      of_both_ns = waits.of({0, 1});
      of_both_ns -= waits.of({});  // the test's own
    } while (of_both_ns < 10'000'000 && !deadline.passed());
    with_sleeper_ns = waits.of({2});
    own_ns = waits.of({});  // asked later, the test may have waited more
  } while (with_sleeper_ns > own_ns && !deadline.passed());
  EXPECT_GE(of_both_ns, 10'000'000);
  EXPECT_LE(with_sleeper_ns, own_ns) << "a sleeper waits for no core";
}

}  // namespace
}  // namespace ringtree::testing
