// The sliced recurrence: how long a schedule takes on hosts with links between them, message by message, by rules
// simple enough to emulate in real time (core/transport/shaped) and to compute by hand. Nothing but the links between
// hosts takes time: no copying, no reducing, no scheduler. A data-driven schedule has no global clock; each lane has
// its own.
//
// Data is cut as the engine cuts it, but for the shorter slices that it takes of long steps between real hosts
// (core/schedule/layout.h: one channel, kSlots slots of kSlotBytes); a lane handles pass after pass, step after step,
// slice after slice. Passes run freely: a lane starts its next pass at once.
//   - A slice is ready at v = the latest of: its lane's clock; the arrival of its message on each incoming link; the
//     time at which the slot that it sends into was freed (message m takes the slot of message m - kSlots, freed when
//     all its readers have read it); the done times of what it depends on (that slice where the dependency is by slice,
//     else the whole step). It is done at v, or, if it sends to other hosts, when the network card takes it. Then the
//     lane's clock is that time and the incoming slots are freed.
//   - A step without bytes in a pass sends an empty message in the first one. In a later one it does nothing, and is
//     done when its lane comes to it.
//   - A message sent on the same host arrives when it is sent. To each reader on another host, the lowest rank first,
//     it is transmitted separately through the one network card of the sending host: each takes bytes / beta, and it
//     arrives alpha after its last byte has left. A card that is busy lets slices wait and serves the ranks of its host
//     in turn: when it is free, that rank among the waiting which was served least recently (ties: the lower rank;
//     within a rank the lower lane).
// All ranks start at 0. A rank has finished when the last of its lanes has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/cluster.h"
#include "core/schedule/host_groups.h"
#include "core/schedule/schedule.h"

namespace ringtree {

/// What a rank has to do with the network.
struct NetworkShare {
  int64_t messages = 0;  // that it sends to other hosts and receives from there; the slices of a pass of a step are one
  int64_t bytes = 0;     // in them
};

struct Timing {
  double seconds = 0;                // until the last rank has finished
  std::vector<double> rank_seconds;  // when each rank has finished
  int64_t num_messages = 0;          // slices that were received; a multicast counts once a reader
  int64_t num_transmissions = 0;     // those of them that went between hosts
  int64_t network_bytes = 0;         // in those
  std::vector<NetworkShare> rank_network;
};

/// `count` elements as in Layout, of `item_size` bytes. Time grows with messages (some ten million a second) and so
/// does memory, but only for steps that other lanes depend on. Throws UsageError if `hosts` are not those of the
/// schedule's ranks, for impossible links, or if the schedule's messages cannot all be delivered (the verifier says
/// why).
Timing time_schedule(const Schedule& schedule, size_t count, size_t item_size, const HostGroups& hosts,
                     const HostLinks& links);
/// On an emulated cluster, which may have more ranks than the schedule.
Timing time_schedule(const Schedule& schedule, size_t count, size_t item_size, const Cluster& cluster);

}  // namespace ringtree
