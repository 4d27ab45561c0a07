// See flow_graph.h.
#include "core/simulate/flow_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/base/error.h"

namespace ringtree {

Ticks ticks_of(double seconds) {
  const double ticks = seconds * kTicksPerSecond;
  if (!(ticks < 9e18)) throw UsageError("a time of " + std::to_string(seconds) + " s is too long to simulate");
  return static_cast<Ticks>(std::llround(ticks));
}

FlowGraph::FlowGraph(const PlacedTraffic& placed, const Classes& classes) {
  add_lanes(placed, classes);
  add_connections(placed, classes);
  add_links(placed, classes);
  find_shared();
}

void FlowGraph::add_lanes(const PlacedTraffic& placed, const Classes& classes) {
  const Traffic& traffic = placed.traffic;
  for (const int id : classes.lanes) {
    const int lane = id % traffic.num_lanes(), channel = id / traffic.num_lanes(), rank = traffic.lane_rank[lane];
    lanes.push_back({lane, channel, rank, placed.own_copy_rate(rank), placed.network.reduce_rate[rank],
                     placed.own_fold_seconds(rank)});
    first_port_.push_back(static_cast<int>(port_connection_.size()));
    for (int at = traffic.lane_first_port[lane]; at < traffic.lane_first_port[lane + 1]; ++at)
      port_connection_.push_back(classes.of_connection[channel * traffic.num_links() + traffic.port_link[at]]);
    first_fellow_.push_back(static_cast<int>(fellow_lane_.size()));
    for (int at = traffic.rank_first_lane[rank]; at < traffic.rank_first_lane[rank + 1]; ++at)
      fellow_lane_.push_back(classes.of_lane[channel * traffic.num_lanes() + at]);
  }
  first_port_.push_back(static_cast<int>(port_connection_.size()));
  first_fellow_.push_back(static_cast<int>(fellow_lane_.size()));
}

void FlowGraph::add_connections(const PlacedTraffic& placed, const Classes& classes) {
  const Traffic& traffic = placed.traffic;
  for (const int id : classes.connections) {
    const int link = id % traffic.num_links(), first_lane = id / traffic.num_links() * traffic.num_lanes();
    const TrafficLink& ends = traffic.links[link];
    connections.push_back({classes.of_lane[first_lane + ends.sender], classes.of_lane[first_lane + ends.receiver],
                           ticks_of(placed.latency(link)), kNoFlow});
  }
  const int num_connections = static_cast<int>(connections.size());
  for (int i = 0; i < num_connections; ++i) add_flow(placed, classes, i, Leg::crossing);
  for (int i = 0; i < num_connections; ++i) {
    if (!placed.has_reading(classes.connections[i] % traffic.num_links())) continue;
    connections[i].reading = static_cast<int>(flows.size());
    add_flow(placed, classes, i, Leg::reading);
  }
  first_route_.push_back(static_cast<int>(route_link_.size()));
}

void FlowGraph::add_flow(const PlacedTraffic& placed, const Classes& classes, int connection, Leg leg) {
  const int link = classes.connections[connection] % placed.traffic.num_links();
  flows.push_back({connection, placed.copy_rate(link, leg), kCopying});
  first_route_.push_back(static_cast<int>(route_link_.size()));
  for (const int on : placed.route(link)) {
    if (!placed.takes(on, link, leg)) continue;
    const int of_class = classes.of_link[on];  // two links of a route may be alike: one stands for both
    const bool is_new = std::none_of(route_link_.begin() + first_route_.back(), route_link_.end(),
                                     [&](const RouteLink& one) { return one.link == of_class; });
    if (is_new) route_link_.push_back({of_class});
  }
}

void FlowGraph::add_links(const PlacedTraffic& placed, const Classes& classes) {
  const int num_links = placed.traffic.num_links();
  for (const int id : classes.links) {
    link_rate.push_back(placed.network.link_rate[id]);
    first_crossing_.push_back(static_cast<int>(crossing_.size()));
    std::map<int, Crossing> found;
    for (int channel = 0; channel < placed.size.num_channels; ++channel)
      for (const int link : placed.crossing(id))
        for (const Leg leg : {Leg::crossing, Leg::reading}) {
          if (!placed.takes(id, link, leg)) continue;
          const int connection = channel * num_links + link, of_class = classes.of_connection[connection];
          const int flow = leg == Leg::crossing ? of_class : connections[of_class].reading;
          Crossing& one = found.try_emplace(flow, Crossing{flow, 0, 0}).first->second;
          one.weight += placed.weight(id, connection, leg);
          ++one.count;
        }
    for (const auto& [flow, one] : found) {
      crossing_.push_back(one);
      for (int at = first_route_[flow]; at < first_route_[flow + 1]; ++at)
        if (route_link_[at].link == static_cast<int>(link_rate.size()) - 1) route_link_[at].weight = one.weight;
    }
  }
  first_crossing_.push_back(static_cast<int>(crossing_.size()));
}

// Most links are never short: what their flows can carry at all, each held back by copying and by the slowest link of
// its route, fits. Such a link needs no sharing; where a flow has it to itself it is a cap like copying. A core on
// which messages count other than their bytes is always shared.
void FlowGraph::find_shared() {
  std::vector<bool> weighted(link_rate.size());
  for (int link = 0; link < static_cast<int>(link_rate.size()); ++link) {
    const auto all = crossing(link);
    weighted[link] = std::any_of(all.begin(), all.end(),
                                 [](const Crossing& one) { return one.weight != static_cast<double>(one.count); });
  }
  std::vector<double> most(flows.size());
  for (int id = 0; id < static_cast<int>(flows.size()); ++id) {
    most[id] = flows[id].cap;
    for (const RouteLink& on : route(id))
      if (!weighted[on.link]) most[id] = std::min(most[id], link_rate[on.link]);
  }
  std::vector<bool> shared(link_rate.size());
  for (int link = 0; link < static_cast<int>(link_rate.size()); ++link) {
    double sum = 0;
    for (const Crossing& one : crossing(link)) sum += one.weight * most[one.flow];
    shared[link] = weighted[link] || sum > link_rate[link] * (1 + 1e-12);
  }
  for (int id = 0; id < static_cast<int>(flows.size()); ++id) {
    first_shared_.push_back(static_cast<int>(shared_link_.size()));
    for (const RouteLink& on : route(id)) {
      if (shared[on.link]) {
        shared_link_.push_back(on);
      } else if (link_rate[on.link] <= flows[id].cap) {
        flows[id].cap = link_rate[on.link];
        flows[id].cap_by = on.link;
      }
    }
  }
  first_shared_.push_back(static_cast<int>(shared_link_.size()));
}

}  // namespace ringtree
