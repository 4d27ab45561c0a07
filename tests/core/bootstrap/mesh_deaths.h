// Processes of a mesh that are killed, end or fork, on one host and on several: what each does, and what their test
// expects of them. The processes: child_process.h.
#pragma once

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/bootstrap/mesh.h"
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

/// The same, then stays until the test ends it: a survivor's own end must not be what others notice.
inline int report_and_stay(EventLog& log, const ChildProcess::Pipe& pipe) {
  report_first_gone(log, pipe);
  pipe.hear();
  return 0;
}

/// Rank 1 ends when it is told to, with a bye if `orderly`; the others report it.
inline int end_when_told(Mesh& mesh, EventLog& log, const ChildProcess::Pipe& pipe, bool orderly) {
  if (mesh.rank() != 1) return report_and_stay(log, pipe);
  pipe.hear();
  if (orderly) mesh.close();
  ::syscall(SYS_exit_group, 0);  // not _exit(): under TSan that sleeps for a second first
  return 1;
}

/// Rank 0 forks children that end, with and without closing their copy of the mesh, and then sends to rank 1.
inline int outlive_forks(Mesh& mesh, EventLog& log, const ChildProcess::Pipe& pipe) {
  if (mesh.rank() != 0) {
    pipe.say(log.messages(1).at(0).payload);  // had a child's end looked like rank 0's, it would not come
    return 0;
  }
  for (const bool close_first : {true, false}) {
    const int child = ::fork();
    if (child == 0) {
      const bool refused =
          contains(outcome_of([&] { mesh.send(1, ControlType::link, ""); }), "usage: this process is a fork");
      if (close_first) mesh.close();
      ::_exit(mesh.forked() && refused ? 0 : 1);
    }
    int status = 1;
    if (::waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  return mesh.send(1, ControlType::abort, "still here") && !mesh.forked() ? 0 : 2;
}

/// Of two ranks that outlive_forks().
inline void expect_outlived(std::vector<ChildProcess>& ranks) {
  EXPECT_EQ(ranks[1].pipe().hear(), "still here");
  EXPECT_EQ(ranks[0].wait(), 0);
}

/// Checks what every rank but `victim` reports, and that it came within a second, less what the rank, the victim and
/// the test waited for a core since `waits` was made. The largest time from `start_ns` to a notice, in ns.
inline int64_t slowest_notice(const std::vector<ChildProcess>& ranks, int victim, const std::string& how,
                              int64_t start_ns, const WaitsForCores& waits) {
  int64_t slowest = 0;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    if (rank == victim) continue;
    const std::string line = ranks[static_cast<size_t>(rank)].pipe().hear();
    const std::string expected = std::to_string(victim) + " " + how + " ";
    EXPECT_EQ(line.substr(0, expected.size()), expected) << "rank " << rank << ": " << line;
    if (line.size() <= expected.size()) continue;
    const int64_t took_ns = int64_t{std::atoll(line.c_str() + expected.size())} - start_ns;
    EXPECT_LT(took_ns - waits.of({rank, victim}), 1'000'000'000) << "rank " << rank << " after " << took_ns << " ns";
    slowest = std::max(slowest, took_ns);
  }
  return slowest;
}

/// Kills `victim`: all other ranks, which report_and_stay(), must have noticed within a second. Prints how long it
/// took.
inline void expect_kill_noticed(std::vector<ChildProcess>& ranks, int victim) {
  const WaitsForCores waits(ranks);
  const int64_t start_ns = now_ns();
  ranks[static_cast<size_t>(victim)].kill_now();
  const int64_t slowest_ns = slowest_notice(ranks, victim, "died", start_ns, waits);
  std::printf("[ measured ] rank %d of %zu killed: slowest survivor told after %.2f ms\n", victim, ranks.size(),
              static_cast<double>(slowest_ns) * 1e-6);
}

/// Ends rank 1, which end_when_told(): likewise.
inline void expect_end_noticed(std::vector<ChildProcess>& ranks, bool orderly) {
  const WaitsForCores waits(ranks);
  const int64_t start_ns = now_ns();
  ranks[1].pipe().say("end");
  slowest_notice(ranks, 1, orderly ? "bye" : "died", start_ns, waits);
}

}  // namespace ringtree::testing
