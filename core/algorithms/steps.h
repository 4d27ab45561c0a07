// Short forms for writing down an algorithm's steps: Do(verb, chunks).from(peer).own(place).into(place).to(peer). For
// the files of this folder only; it checks nothing, since Program does (core/schedule/program.h).
#pragma once

#include <bit>
#include <utility>
#include <vector>

#include "core/schedule/cost_summary.h"
#include "core/schedule/schedule.h"

namespace ringtree {

class Do {
 public:
  explicit Do(Verb verb, ChunkRange chunks = {0}, int lane = 0) {
    step_.verb = verb;
    step_.chunks = chunks;
    step_.lane = lane;
  }
  /// Called once a peer, in fold order.
  Do& from(int peer, int tag = 0) {
    step_.recv.push_back({peer, tag});
    return *this;
  }
  Do& from(const std::vector<int>& peers, int tag = 0) {
    for (int peer : peers) from(peer, tag);
    return *this;
  }
  /// The rank's own operand and its place in the fold (0: before all that arrives).
  Do& own(Place src, int at = 0) {
    step_.src = src;
    step_.src_at = at;
    return *this;
  }
  Do& into(Place dst) {
    step_.dst = dst;
    return *this;
  }
  Do& to(int peer, int tag = 0) { return to(std::vector<int>{peer}, tag); }
  /// Several peers: a multicast.
  Do& to(std::vector<int> peers, int tag = 0) {
    step_.send_to = std::move(peers);
    step_.send_tag = tag;
    return *this;
  }
  operator Step() const { return step_; }  // implicit, so that a Do can be added to a ProgramBuilder

 private:
  Step step_;
};

/// `n` ranks with `num_chunks` chunks; a single rank copies its input to its output in one step, whatever the
/// algorithm.
inline Schedule schedule_or_copy(const char* name, Collective collective, int num_ranks, int root, int num_chunks,
                                 int widest, Schedule::Generator generator) {
  if (num_ranks == 1) {
    num_chunks = widest = 1;
    generator = [](ProgramBuilder& b) { b.add(Do(Verb::copy).own(kInput).into(kOutput)); };
  }
  return Schedule({name, collective, num_ranks, root, num_chunks, widest, {}}, std::move(generator));
}

/// What that copy costs.
inline constexpr CostSummary kCopyCost{.steps = 1, .written = 1, .read = 1, .total_written = 1, .total_read = 1};

/// ⌊log₂ n⌋ and ⌈log₂ n⌉ for n ≥ 1; 0 below.
inline int floor_log2(int n) { return n < 1 ? 0 : std::bit_width(static_cast<unsigned>(n)) - 1; }
inline int ceil_log2(int n) { return n <= 1 ? 0 : std::bit_width(static_cast<unsigned>(n - 1)); }

/// Of `blocks(d)` blocks that each rank sends over a distance d of 1, 2, 4, … < n around a ring of n: how many go to
/// ranks that send it nothing. Who is d away sends back only if the other way round, n - d, is such a distance, too.
template <class Blocks>
double one_way_blocks(int n, const Blocks& blocks) {
  double one_way = 0;
  for (int d = 1; d < n; d *= 2)
    if (!std::has_single_bit(static_cast<unsigned>(n - d))) one_way += blocks(d);
  return one_way;
}

/// `rank + offset` around the ring, for offsets from -num_ranks.
inline int around(int rank, int offset, int num_ranks) { return (rank + offset + num_ranks) % num_ranks; }

}  // namespace ringtree
