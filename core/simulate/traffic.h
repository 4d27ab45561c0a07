// A schedule laid flat for the simulator: each lane's steps side by side, with ports instead of links, so that lanes
// that do the same on different ranks have the same content. Only structure: it knows no size, channel or network, so
// one Traffic serves them all. It trusts the schedule to be verified. A switch is a rank here, numbered after them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree {

struct TrafficStep {
  ChunkRange chunks;
  int first_port = 0, num_recv = 0,
      num_send = 0;  // in Traffic::step_ports: those that it receives from, then the others
  int first_wait = 0, num_waits = 0;
  int num_folds = 0;
  int num_touched = 0;  // operands in buffers, read or written: up to two
  bool copies = false;
};

/// What a step waits for: a step of another lane of its rank.
struct TrafficWait {
  int lane = 0;  // by its number in the rank
  int step = 0;  // within that lane
  bool by_slice = false, previous_pass = false;
  bool operator==(const TrafficWait&) const = default;
};

/// One direction between two lanes. A multicast is one a reader.
struct TrafficLink {
  int src_rank = 0, dst_rank = 0;
  int sender = 0, receiver = 0;            // lanes
  int sender_port = 0, receiver_port = 0;  // within the lane
};

struct Traffic {
  explicit Traffic(const Schedule& schedule);

  int num_lanes() const { return static_cast<int>(lane_rank.size()); }
  int num_links() const { return static_cast<int>(links.size()); }
  int number(int lane) const {
    return lane - rank_first_lane[static_cast<size_t>(lane_rank[static_cast<size_t>(lane)])];
  }

  /// Of one of its steps, within the lane.
  std::span<const int> recv_ports(const TrafficStep& step) const {
    return std::span(step_ports).subspan(static_cast<size_t>(step.first_port), static_cast<size_t>(step.num_recv));
  }
  std::span<const int> send_ports(const TrafficStep& step) const {
    return std::span(step_ports)
        .subspan(static_cast<size_t>(step.first_port) + static_cast<size_t>(step.num_recv),
                 static_cast<size_t>(step.num_send));
  }

  ScheduleShape shape;
  std::vector<int> rank_first_lane;                   // one more than ranks
  std::vector<int> lane_rank;                         // lanes are numbered rank by rank
  std::vector<int> lane_first_step;                   // one more than lanes
  std::vector<int> lane_first_port, port_link;        // a lane's ports -> links
  std::vector<int> lane_first_dependent, dependents;  // lanes (by their number in the rank) that wait for this one
  std::vector<TrafficStep> steps;
  std::vector<int> step_ports;  // within the lane
  std::vector<TrafficWait> waits;
  std::vector<TrafficLink> links;
};

/// The pairs of ranks between which messages go: sources and destinations, each pair once, ascending.
std::pair<std::vector<int>, std::vector<int>> pairs_of(const Traffic& traffic);

}  // namespace ringtree
