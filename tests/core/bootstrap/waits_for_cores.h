// WaitsForCores: how long threads that could run have waited for a core, so that a promised time is judged alike
// whatever else the machine does. Where each finds a core at once there are no such waits, and the bar is what it says.
// Not for other waits: a thread that sleeps, for a timer or for bytes, waits for no core. Nor for ranks that spin and
// share too few cores: they would excuse each other.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "tests/core/bootstrap/child_process.h"

namespace ringtree::testing {

/// Of the test and of `processes`, which outlive it, since it was made. Nothing where Linux does not count (schedstat).
class WaitsForCores {
 public:
  explicit WaitsForCores(const std::vector<ChildProcess>& processes) : processes_(processes) {
    for (const ChildProcess& process : processes) before_ns_.push_back(of_threads(process.pid()));
  }

  /// What the threads of the test, which has to send a signal or a word, and of the processes `indices` have waited, in
  /// ns, all together: one may have to wake the next. Of a process that was killed only the first is left to ask.
  int64_t of(const std::vector<int>& indices) const {
    int64_t sum = since(test_before_ns_, of_threads(::getpid()));
    for (const int index : indices) {
      const auto place = static_cast<size_t>(index);
      sum += since(before_ns_[place], of_threads(processes_[place].pid()));
    }
    return sum;
  }

 private:
  using OfThreads = std::map<std::string, int64_t>;

  static OfThreads of_threads(int pid) {
    OfThreads found;
    std::error_code gone;  // a thread may end meanwhile
    std::filesystem::directory_iterator at("/proc/" + std::to_string(pid) + "/task", gone);
    for (; !gone && at != std::filesystem::directory_iterator(); at.increment(gone)) {
      std::ifstream file(at->path() / "schedstat");
      int64_t ran_ns = 0, waited_ns = 0;
      if (file >> ran_ns >> waited_ns) found[at->path().filename()] = waited_ns;
    }
    return found;
  }

  static int64_t since(const OfThreads& before_ns, const OfThreads& now_ns) {
    int64_t sum = 0;
    for (const auto& [thread, waited_ns] : now_ns) {
      const auto before = before_ns.find(thread);
      sum += waited_ns - (before == before_ns.end() ? 0 : before->second);
    }
    return sum;
  }

  const std::vector<ChildProcess>& processes_;
  std::vector<OfThreads> before_ns_;
  const OfThreads test_before_ns_ = of_threads(::getpid());
};

}  // namespace ringtree::testing
