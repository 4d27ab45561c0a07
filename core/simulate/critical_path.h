// What a simulated call's time went on: the chain of things each of which waited for the one before, from the last rank
// to finish back to the launch. Only the book-keeping; what waits for what is simulate.cpp's.
//
// Each slice that a lane has done and each message that has crossed or was read is a mark with the mark that it waited
// for last.
// The time between the two goes to one account:
//   launch    until ranks begin
//   latency   from a message's end to its arrival
//   link      while a message crossed or was read, if a link held it back (the one that did so when it ended); by link
//   copy      the same if copying did, and copies within a rank
//   reduce    folding
//   slots     a slice was ready but for a free slot
// so that the accounts add up to the whole time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/simulate/flow_graph.h"

namespace ringtree {

struct Accounts {
  double launch = 0, latency = 0, link = 0, copy = 0, reduce = 0, slots = 0;
  std::vector<std::pair<int, double>> links;  // of the graph, longest time first: what `link` is made of
};

using Mark = uint32_t;

class CriticalPath {
 public:
  /// What the time since the mark before went on.
  enum class Kind : uint8_t {
    launch,
    link,
    copy,
    reduce,
    arrival_then_copy,
    arrival_then_reduce,
    slots,
    arrival_then_slots
  };

  explicit CriticalPath(const FlowGraph& graph) : graph_(graph) {}

  /// `id`: the link that held a message back, or the connection whose latency comes first (arrival_…). Throws
  /// UsageError if there are too many (4 billion).
  Mark add(Ticks at, Mark before, Kind kind, int id = 0);
  Ticks at(Mark mark) const { return marks_[mark].at; }
  size_t size() const { return marks_.size(); }

  Accounts accounts(Mark last) const;

 private:
  struct Entry {
    Ticks at;
    Mark before;
    uint32_t kind_and_id;
  };

  const FlowGraph& graph_;
  std::vector<Entry> marks_;
};

}  // namespace ringtree
