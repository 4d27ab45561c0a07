// What is known of a schedule before any rank's program is made: its collective, size and limits.
//
// Some schedules let a switch add up and multicast what its ranks send (NVLink SHARP). What it does is a program, too,
// with the verbs of ranks: programs 0 … num_ranks-1 are the ranks', those after them the switches'. A switch has no
// input, output or scratch: it passes on what arrives.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/schedule/collective.h"

namespace ringtree {

inline constexpr int kMostShares = 16;

struct ScheduleShape {
  std::string name;  // of the algorithm, as users call it
  Collective collective = Collective::all_reduce;
  int num_ranks = 1;
  int root = 0;        // 0 where the collective has none
  int num_chunks = 1;  // a multiple of num_blocks(collective, num_ranks)
  int widest = 1;      // most chunks that any step of any rank handles: both ends of a link must cut passes alike
  std::vector<std::pair<std::string, int>> parameters;
  std::vector<int> switches = {};  // a rank that is joined to each switch: it tells where the switch is
  // That work side by side, each on chunks, lanes and links of its own: chunk c is of share c mod shares (mixes).
  int shares = 1;  // 1 … kMostShares; divides num_chunks

  int num_switches() const { return static_cast<int>(switches.size()); }
  int num_programs() const { return num_ranks + num_switches(); }
  bool is_switch(int program) const { return program >= num_ranks; }
  /// "rank 3", or "switch 0", which program num_ranks is.
  std::string called(int program) const {
    return is_switch(program) ? "switch " + std::to_string(program - num_ranks) : "rank " + std::to_string(program);
  }

  ChunkSpan input(int program) const {
    return is_switch(program) ? ChunkSpan{} : input_span(collective, num_ranks, num_chunks, root, program);
  }
  ChunkSpan output(int program) const {
    return is_switch(program) ? ChunkSpan{} : output_span(collective, num_ranks, num_chunks, root, program);
  }
};

}  // namespace ringtree
