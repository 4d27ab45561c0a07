// A schedule's lanes and links laid out for timing: which lane sends on which link to which lane. Only structure; times
// are recurrence.cpp's. It trusts the schedule to be verified. A switch is a rank here, numbered after them.
#pragma once

#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree {

/// A link from one lane to one reader's lane. A multicast is one link a reader, all filled by the same steps.
struct WiredLink {
  int src_rank = 0, dst_rank = 0;
  int sender = -1, receiver = -1;  // indexes of lanes; -1 if that end does not exist
};

struct WiredDependency {
  int step = 0;  // index in Wiring::steps
  bool by_slice = false;
  bool previous_pass = false;
};

struct WiredStep {
  ChunkRange chunks;
  int num_folds = 0;                        // folds of two operands that each byte of the result takes
  int num_touched = 0;                      // operands in buffers, read or written
  bool copies = false;                      // moves bytes within the rank and nothing else
  std::vector<int> recv_links, send_links;  // a send link for each reader
  std::vector<WiredDependency> waits_for;
  std::vector<int> dependent_lanes;  // lanes with a step that waits for this one
};

struct WiredLane {
  int rank = 0, number = 0;
  std::vector<int> steps;  // in order
};

struct Wiring {
  explicit Wiring(const Schedule& schedule);

  std::vector<WiredStep> steps;  // of all ranks
  std::vector<WiredLane> lanes;  // rank by rank, by number
  std::vector<WiredLink> links;
};

}  // namespace ringtree
