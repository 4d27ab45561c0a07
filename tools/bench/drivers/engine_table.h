// The engine's driver without a controller: times sizes × algorithms on ranks of this host and prints a table. For
// tuning by hand; not a comparison that proves something (that is `make bench`: launches, intervals, verdicts).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ringtree::bench {

struct TableRequest {
  std::string collective = "all_reduce";
  std::vector<size_t> sizes;  // bytes of a rank's larger buffer
  std::vector<std::string>
      algorithms;       // "auto", "two_shot", "two_shot/ll128", "two_shot/simple/32768/streaming": columns
  int rounds = 5;       // visits of each column, interleaved
  size_t batches = 20;  // of a visit
  size_t warmup = 3;
  size_t calls = 0;  // of a batch; 0: as many as take 200 µs
  size_t offset = 0;
  uint64_t seed = 1;
  bool shared = false;
  int core_a = 0, core_b = 1;  // between which a line's way is timed before and after each size
};

/// Speaks to the ranks over `sockets` (by rank) as the controller does, and prints median times of a call of the
/// slowest rank in µs, a line a size. Returns the exit code: 1 if a rank failed or an element was wrong.
int print_table(const std::vector<int>& sockets, const TableRequest& request);

}  // namespace ringtree::bench
