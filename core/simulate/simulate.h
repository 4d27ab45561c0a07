// How long a schedule takes on a network that is described: the very programs that the engine runs, slice by slice, by
// discrete events. Not the recurrence of core/model, which is for links that are emulated in real time: there a host
// has one card that serves slices in turn, here links are shared.
//
// The rules of slices, passes, slots and dependencies are those of core/model/recurrence.h. What takes time:
//   - A lane begins a slice when it is free, all its messages have arrived, the slots that it sends into are free and
//     what it depends on is done. Where links stand for cores, it first reads its messages, all at once, each at its
//     max-min fair share of its rank's core, which also folds them (core_work.h). It is then busy for
//     folds · bytes / reduce_rate with what no core has folded, or bytes / copy_rate if it only copies within its rank,
//     and for reading and writing if it folds without a message; then the slice is done, the slots that it read are
//     free, and its messages are sent.
//   - Messages of one connection (a link of the schedule on a channel) cross one after the other, in order. While one
//     crosses, the connection takes its max-min fair share of each link of its route, but for the receiver's core, and
//     at most what both ends copy, or the sender alone where the receiver's core is a link.
//     The bytes are those on the wire: data / efficiency.
//     On a link that stands for a core a message counts what that core reads and writes for it (core_work.h).
//   - A message arrives its links' latencies and the protocol's step latency after its last byte has crossed.
//   - All ranks begin at launch_cost. A rank has finished when the last of its lanes has.
//   - A switch that reduces and multicasts (ScheduleShape::switches) passes a slice on when all of it has arrived.
// Not modelled: what the processors do beside, queues and losses in switches, congestion control.
#pragma once

#include <cstdint>
#include <vector>

#include "core/simulate/critical_path.h"
#include "core/simulate/max_min.h"
#include "core/simulate/placed_traffic.h"
#include "core/simulate/recording.h"

namespace ringtree {

struct Simulated {
  double seconds = 0;                // until the last rank has finished
  std::vector<double> rank_seconds;  // when each rank has finished
  std::vector<int64_t> link_bytes;   // that each link of the network carried
  std::vector<double> link_busy;     // seconds in which something crossed it
  Accounts limit;                    // what `seconds` are made of; links are the network's
  int64_t num_events = 0;            // slices done and messages that crossed
  int num_lanes = 0;                 // that were simulated: fewer than there are where lanes are alike
};

struct SimulateOptions {
  bool use_symmetry = true;        // simulate one of each class (classes.h)
  Recording* recording = nullptr;  // filled, if there is one; everything is then simulated, and its time is the same
  SharingFault fault;              // tests of the checks
};

/// Throws UsageError for an impossible network, protocol or size and if the schedule's messages cannot all be
/// delivered, or are too many to be recorded; ConservationError if what links carried is not what was sent. Time and
/// memory grow with slices and messages.
Simulated simulate(const Traffic& traffic, const CallSize& size, const SimulatedNetwork& network,
                   const WireProtocol& protocol, const SimulateOptions& options = {});

}  // namespace ringtree
