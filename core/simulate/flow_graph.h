// What is simulated: one lane, connection and link of each class (classes.h), wired to one another, with the rates and
// latencies that apply. Where nothing is alike, that is all of them. Only structure and constants; what changes over
// time is simulate.cpp's and max_min.cpp's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/simulate/classes.h"

namespace ringtree {

/// Time is counted in whole picoseconds, so that what ends at the same time by arithmetic does so here.
using Ticks = int64_t;
inline constexpr double kTicksPerSecond = 1e12;
/// Throws UsageError for a time that does not fit (a hundred days).
Ticks ticks_of(double seconds);

struct GraphLane {
  int lane = 0;  // of the traffic
  int channel = 0, rank = 0;
  double copy_rate = 0, reduce_rate = 0, fold_seconds = 0;  // fold_seconds: PlacedTraffic::own_fold_seconds
};

inline constexpr int kCopying = -1;  // in place of a link: what limits a flow is copying
inline constexpr int kNoFlow = -1;

struct GraphConnection {
  int sender = 0, receiver = 0;  // graph lanes
  Ticks latency = 0;
  int reading = kNoFlow;  // the flow of its messages' second leg, if they have one
};

/// What has a rate: a leg of a connection's messages. Flow i is the crossing of connection i; those that read come
/// after all of them.
struct GraphFlow {
  int connection = 0;
  double cap = 0;         // bytes per second that copying, or a link that nothing else needs, allows
  int cap_by = kCopying;  // or that link
};

/// A flow that takes a link; so do `count` of its class, and together they take `weight` times its rate: more or less
/// than `count` times where the link is a core (PlacedTraffic::weight). And the same from the flow's side.
struct Crossing {
  int flow = 0;
  double weight = 1;
  int64_t count = 1;
};
struct RouteLink {
  int link = 0;
  double weight = 1;
};

class FlowGraph {
 public:
  FlowGraph(const PlacedTraffic& placed, const Classes& classes);

  /// Of a lane: a connection for each port; the graph lanes of its rank and channel, by number.
  std::span<const int> ports(int lane) const { return part(port_connection_, first_port_, lane); }
  std::span<const int> fellows(int lane) const { return part(fellow_lane_, first_fellow_, lane); }
  /// Links that a flow takes.
  std::span<const RouteLink> route(int flow) const { return part(route_link_, first_route_, flow); }
  /// Those of them that flows may have to share: together these could send more than the link takes.
  std::span<const RouteLink> shared_route(int flow) const { return part(shared_link_, first_shared_, flow); }
  std::span<const Crossing> crossing(int link) const { return part(crossing_, first_crossing_, link); }

  std::vector<GraphLane> lanes;
  std::vector<GraphConnection> connections;
  std::vector<GraphFlow> flows;
  std::vector<double> link_rate;

 private:
  template <class Item>
  static std::span<const Item> part(const std::vector<Item>& items, const std::vector<int>& first, int of) {
    const size_t begin = static_cast<size_t>(first[static_cast<size_t>(of)]);
    return std::span(items).subspan(begin, static_cast<size_t>(first[static_cast<size_t>(of) + 1]) - begin);
  }

  void add_lanes(const PlacedTraffic& placed, const Classes& classes);
  void add_connections(const PlacedTraffic& placed, const Classes& classes);
  void add_flow(const PlacedTraffic& placed, const Classes& classes, int connection, Leg leg);
  void add_links(const PlacedTraffic& placed, const Classes& classes);
  void find_shared();

  std::vector<int> first_port_, port_connection_, first_fellow_, fellow_lane_;
  std::vector<int> first_route_, first_shared_, first_crossing_;
  std::vector<RouteLink> route_link_, shared_link_;
  std::vector<Crossing> crossing_;
};

}  // namespace ringtree
