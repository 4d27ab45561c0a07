// Networks made by hand for the simulator's tests. Not descriptions of machines.
#pragma once

#include <vector>

#include "core/simulate/simulate.h"

namespace ringtree::testing {

constexpr double kForEver = 1e30;  // a rate so high that it takes no time

/// Each rank has a link out (2r) and one in (2r + 1) of `rate`, half of `latency` each, and all reach each other.
inline SimulatedNetwork uniform(const Traffic& traffic, double rate, double latency, double copy_rate = kForEver,
                                double reduce_rate = kForEver) {
  SimulatedNetwork network;
  for (int rank = 0; rank < traffic.shape.num_programs(); ++rank) {
    network.link_rate.insert(network.link_rate.end(), 2, rate);
    network.link_latency.insert(network.link_latency.end(), 2, latency / 2);
    network.copy_rate.push_back(copy_rate);
    network.reduce_rate.push_back(reduce_rate);
  }
  std::tie(network.pair_src, network.pair_dst) = pairs_of(traffic);
  network.route_offsets.push_back(0);
  for (size_t i = 0; i < network.pair_src.size(); ++i) {
    network.route_links.push_back(2 * network.pair_src[i]);
    network.route_links.push_back(2 * network.pair_dst[i] + 1);
    network.route_offsets.push_back(static_cast<int64_t>(network.route_links.size()));
  }
  return network;
}

/// A schedule in which message i goes from `ends[i].first` to `ends[i].second`, all at once: a lane for each end.
inline Schedule messages(int num_ranks, std::vector<std::pair<int, int>> ends) {
  ScheduleShape shape{"messages", Collective::all_reduce, num_ranks, 0, 1, 1, {}};
  return Schedule(shape, [ends](ProgramBuilder& builder) {
    int lane = 0;
    for (size_t i = 0; i < ends.size(); ++i) {
      const int tag = static_cast<int>(i);
      Step step;
      step.lane = lane;
      if (ends[i].first == builder.rank()) {
        step.verb = Verb::send;
        step.src = kInput;
        step.send_to = {ends[i].second};
        step.send_tag = tag;
      } else if (ends[i].second == builder.rank()) {
        step.verb = Verb::recv;
        step.recv = {{ends[i].first, tag}};
        step.dst = scratch(builder.reserve_scratch(1));
      } else {
        continue;
      }
      builder.add(step);
      ++lane;
    }
  });
}

/// One slice a message: slots of `bytes`, 64 KB or more.
inline WireProtocol slots_of(size_t bytes) {
  WireProtocol protocol;
  protocol.slot_bytes = std::max(bytes, kSlotBytes);
  return protocol;
}

}  // namespace ringtree::testing
