// What a simulation knows of each lane, flow and message at the time that it has reached.
//
// For: simulate.cpp. Not for: what does not change while it runs (flow_graph.h), or shares of links (max_min.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simulate/critical_path.h"
#include "core/simulate/flow_graph.h"
#include "core/simulate/traffic.h"

namespace ringtree {

// What an event touches lies together: with many ranks, a simulation takes as long as its cache misses.
struct SimulatedLane {
  const TrafficStep* step = nullptr;  // next slice to do: of this step
  const int* ports = nullptr;         // the connection of each
  size_t pass = 0, step_bytes = 0;
  double copy_rate = 0, reduce_rate = 0, fold_seconds = 0;
  int32_t slice = 0, num_slices = 0;
  Mark last = 0;    // the slice before, or the launch
  Mark before = 0;  // of the slice that it is busy with: what it waited for last
  int32_t id = 0;
  CriticalPath::Kind kind = CriticalPath::Kind::launch;
  // What it is busy with: first reading, where that takes time, then folding or copying.
  enum class Phase : uint8_t { idle, awaits_arrival, reads, works } phase = Phase::idle;
  int32_t num_reading = 0;  // messages that it still reads
};

/// A flow, and of crossings what is known of the connection.
struct SimulatedFlow {
  int sender = 0, receiver = 0;                          // lanes
  int reading = kNoFlow;                                 // GraphConnection::reading
  uint32_t num_sent = 0, num_crossed = 0, num_read = 0;  // messages
  uint32_t stamp = 0;                                    // of the end of the one under way, unless rates change
  Ticks latency = 0, since = 0;                          // since when `left` is so
  double left = 0, rate = 0;                             // bytes of the one under way, and per second
  int64_t bytes_sent = 0;                                // of all messages
  Mark before = 0;                                       // what the one under way waited for
  bool under_way = false, may_stop = false, sender_waits = false;
};

/// A message in its slot.
struct SimulatedMessage {
  Ticks arrival = 0;  // known once it has crossed
  Mark crossed = 0;
  int32_t bytes = 0;  // on the wire
};

}  // namespace ringtree
