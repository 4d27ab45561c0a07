// What is known of a schedule before any rank's program is made: its collective, size and limits.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/schedule/collective.h"

namespace ringtree {

struct ScheduleShape {
  std::string name;  // of the algorithm, as users call it
  Collective collective = Collective::all_reduce;
  int num_ranks = 1;
  int root = 0;        // 0 where the collective has none
  int num_chunks = 1;  // a multiple of num_blocks(collective, num_ranks)
  int widest = 1;      // most chunks that any step of any rank handles: both ends of a link must cut passes alike
  std::vector<std::pair<std::string, int>> parameters;

  ChunkSpan input(int rank) const { return input_span(collective, num_ranks, num_chunks, root, rank); }
  ChunkSpan output(int rank) const { return output_span(collective, num_ranks, num_chunks, root, rank); }
};

}  // namespace ringtree
