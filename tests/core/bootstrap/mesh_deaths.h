// What processes of a mesh tell their test when one of them is gone, on one host and on several. The processes:
// child_process.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/core/bootstrap/child_process.h"
#include "tests/core/bootstrap/rank_threads.h"
#include "tests/core/bootstrap/waits_for_cores.h"

namespace ringtree::testing {

/// Waits for the first peer to go, and says who, how and when.
inline void report_first_gone(EventLog& log, const ChildProcess::Pipe& pipe) {
  const auto gone = log.gone(1);
  if (gone.empty()) return pipe.say("nobody");
  pipe.say(std::to_string(gone[0].peer) + (gone[0].said_bye ? " bye " : " died ") + std::to_string(gone[0].at_ns));
}

/// Checks what every rank but `victim` reports; the largest time from `start_ns` to a notice, in ns, less what the
/// rank, the victim and the test waited for a core since `waits` was made.
inline int64_t slowest_notice(const std::vector<ChildProcess>& ranks, int victim, const std::string& how,
                              int64_t start_ns, const WaitsForCores& waits) {
  int64_t slowest = 0;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    if (rank == victim) continue;
    const std::string line = ranks[static_cast<size_t>(rank)].pipe().hear();
    const std::string expected = std::to_string(victim) + " " + how + " ";
    EXPECT_EQ(line.substr(0, expected.size()), expected) << "rank " << rank << ": " << line;
    if (line.size() > expected.size())
      slowest =
          std::max(slowest, int64_t{std::atoll(line.c_str() + expected.size())} - start_ns - waits.of({rank, victim}));
  }
  return slowest;
}

}  // namespace ringtree::testing
