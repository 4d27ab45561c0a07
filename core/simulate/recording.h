// When each slice and each message of a simulated call began and ended: what timelines and animations are made of.
//
// For: one call, all of it: what is alike, and would be simulated once, is simulated in full. Not for: sweeps, which
// pay nothing for this: a simulation without a Recording notes nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/simulate/flow_graph.h"

namespace ringtree {

struct SimulatedLane;

/// A slice that a lane did: it was busy from `begin` to `end` with reading what its rank's core reads, and folding or
/// copying within its rank; for no time where it only sends, or receives what no core reads.
struct RecordedSlice {
  Ticks begin = 0, end = 0;
  int64_t bytes = 0;                        // of data
  int32_t rank = 0, channel = 0, lane = 0;  // `lane`: its number in the rank
  int32_t step = 0;                         // within the lane
  int32_t pass = 0, slice = 0;              // `slice`: within the step and pass
};

/// A message: sent when the slice `sent_by` ends, on the wire from `begin` to `end`, there at `arrival`, read by the
/// slice `read_by`, whose end frees its slot. Where the receiver's core reads it (Leg::reading), it does so from the
/// begin of that slice to `read`; else that is 0.
struct RecordedMessage {
  Ticks begin = 0, end = 0, arrival = 0, read = 0;
  int64_t bytes = 0;                 // on the wire
  int32_t sent_by = 0, read_by = 0;  // in Recording::slices
  int32_t src_rank = 0, dst_rank = 0, channel = 0;
  // The link of the network that limited it when it ended, and when it had been read; or kCopying.
  int32_t limit = kCopying, read_limit = kCopying;
};

struct Recording {
  static constexpr int64_t kMost = 1'000'000;

  int64_t most = kMost;  // slices and messages together: a call with more is refused before it is simulated
  std::vector<RecordedSlice> slices;      // in the order in which they ended: none before what it waited for
  std::vector<RecordedMessage> messages;  // in the order in which they were sent
};

/// Slices and messages of a call.
int64_t num_recorded(const PlacedTraffic& placed);
/// Throws UsageError, with their number, if there are more than `most`, or than can be numbered.
void check_recorded(const PlacedTraffic& placed, int64_t most);

/// Fills a Recording while a simulation runs. Its lanes and connections are those of a graph in which nothing stands
/// for anything else (distinct()).
class Recorder {
 public:
  Recorder(const PlacedTraffic& placed, const FlowGraph& graph, Recording& out);

  void begin_slice(int lane, Ticks at) { begun_[static_cast<size_t>(lane)] = at; }
  /// Before the lane goes on, and before its messages begin to cross.
  void end_slice(int lane, const SimulatedLane& state, size_t bytes, Ticks at);
  void begin_crossing(int connection, Ticks at) { crossing(connection).begin = at; }
  /// `limit`: a link of the graph, or kCopying.
  void end_crossing(int connection, Ticks at, Ticks arrival, int limit);
  /// Before the slice that reads it ends.
  void end_reading(int connection, Ticks at, int limit);

 private:
  struct Sent {
    std::vector<int32_t> messages;  // in Recording::messages
    size_t num_crossed = 0, num_read = 0;
  };

  RecordedMessage& crossing(int connection) {
    const Sent& sent = sent_[static_cast<size_t>(connection)];
    return out_.messages[static_cast<size_t>(sent.messages[sent.num_crossed])];
  }

  const PlacedTraffic& placed_;
  const FlowGraph& graph_;
  Recording& out_;
  std::vector<Ticks> begun_;  // of lanes
  std::vector<Sent> sent_;    // of connections
};

}  // namespace ringtree
