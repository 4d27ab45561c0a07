// WaitsForCores: how long threads that could run have waited for a core, so that a promised time is judged alike
// whatever else the machine does. Where each finds a core at once there are no such waits, and the bar is what it says.
// Not for other waits: a thread that sleeps, for a timer or for bytes, waits for no core. Nor for ranks that spin and
// share too few cores: they would excuse each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "tests/core/bootstrap/child_process.h"

namespace ringtree::testing {

/// Of each of `processes`, which outlive it, since it was made. Nothing where Linux does not count (schedstat).
class WaitsForCores {
 public:
  explicit WaitsForCores(const std::vector<ChildProcess>& processes) : processes_(processes) {
    for (const ChildProcess& process : processes) before_ns_.push_back(of_threads(process.pid()));
  }

  /// What the threads of process `index` have waited, in ns, all together: one may have to wake the next. Of a process
  /// that was killed only the first is left to ask.
  int64_t of(size_t index) const {
    int64_t sum = 0;
    for (const auto& [thread, waited_ns] : of_threads(processes_[index].pid())) {
      const auto before = before_ns_[index].find(thread);
      sum += waited_ns - (before == before_ns_[index].end() ? 0 : before->second);
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

  const std::vector<ChildProcess>& processes_;
  std::vector<OfThreads> before_ns_;
};

}  // namespace ringtree::testing
