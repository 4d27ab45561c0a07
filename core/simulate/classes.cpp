// See classes.h. Colours are refined round by round: a colour is a hash of the colours around it in the round before.
#include "core/simulate/classes.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/simulate/neighbourhood.h"

namespace ringtree {
namespace {

/// Counts different values in time that grows with their number; sorting them takes longer than a round.
class ColourCount {
 public:
  size_t operator()(const Colours& colours) {
    table_.assign(std::bit_ceil(2 * colours.size() + 1), kNone);
    size_t count = 0;
    bool has_none = false;
    for (const uint64_t colour : colours) {
      if (colour == kNone) {
        has_none = true;
        continue;
      }
      size_t at = colour & (table_.size() - 1);
      while (table_[at] != kNone && table_[at] != colour) at = (at + 1) & (table_.size() - 1);
      if (table_[at] == kNone) ++count;
      table_[at] = colour;
    }
    return count + (has_none ? 1 : 0);
  }

 private:
  static constexpr uint64_t kNone = 0;
  Colours table_;
};

/// First members and classes of equal colours, in order of appearance.
void classify(const Colours& colours, std::vector<int>& of, std::vector<int>& first) {
  std::unordered_map<uint64_t, int> known;
  for (size_t i = 0; i < colours.size(); ++i) {
    const auto [entry, is_new] = known.try_emplace(colours[i], static_cast<int>(first.size()));
    if (is_new) first.push_back(static_cast<int>(i));
    of.push_back(entry->second);
  }
}

void number_all(int count, std::vector<int>& of, std::vector<int>& first) {
  of.resize(static_cast<size_t>(count));
  std::iota(of.begin(), of.end(), 0);
  first = of;
}

/// Whose core a link of the network is to a connection, as a number below 4.
int core_of(const PlacedTraffic& placed, const Neighbourhood& around, int network_link, int connection) {
  return static_cast<int>(placed.core(network_link, around.link_of(connection)));
}

/// Whether members of a class have the same content and the same classes around them.
class StabilityCheck {
 public:
  StabilityCheck(const PlacedTraffic& placed, const Neighbourhood& around, const Classes& classes)
      : placed_(placed), around_(around), classes_(classes) {}

  bool lanes() {
    for (int id = 0; id < around_.num_lanes(); ++id) {
      const int first = classes_.lanes[classes_.of_lane[id]];
      if (id == first) continue;
      if (!around_.same_content(id, first)) return false;
      lane_around(id, one_), lane_around(first, other_);
      if (one_ != other_) return false;
    }
    return true;
  }

  bool connections() {
    for (int id = 0; id < around_.num_connections(); ++id) {
      const int first = classes_.connections[classes_.of_connection[id]];
      if (id == first) continue;
      connection_around(id, one_), connection_around(first, other_);
      const int link = around_.link_of(id), first_link = around_.link_of(first);
      if (!same_work(around_.connection(id), around_.connection(first))) return false;
      if (one_ != other_ || placed_.latency(link) != placed_.latency(first_link)) return false;
      for (const Leg leg : {Leg::crossing, Leg::reading})
        if (placed_.copy_rate(link, leg) != placed_.copy_rate(first_link, leg)) return false;
    }
    return true;
  }

  bool links() const {
    for (int id = 0; id < placed_.network.num_links(); ++id) {
      const int first = classes_.links[classes_.of_link[id]];
      if (id != first &&
          (placed_.network.link_rate[id] != placed_.network.link_rate[first] || link_around(id) != link_around(first)))
        return false;
    }
    return true;
  }

 private:
  bool same_work(int one, int other) const {
    return placed_.work.of_sender(one) == placed_.work.of_sender(other) &&
           placed_.work.of_receiver(one) == placed_.work.of_receiver(other);
  }

  void lane_around(int id, std::vector<int>& seen) const {
    seen.clear();
    around_.ports(id, [&](int connection) { seen.push_back(classes_.of_connection[connection]); });
    seen.push_back(-1);
    around_.fellows(id, [&](int lane) { seen.push_back(classes_.of_lane[lane]); });
  }

  void connection_around(int id, std::vector<int>& seen) const {
    const TrafficLink& ends = placed_.traffic.links[around_.link_of(id)];
    seen = {classes_.of_lane[around_.sender(id)], classes_.of_lane[around_.receiver(id)], ends.sender_port,
            ends.receiver_port};
    for (const int on : placed_.route(around_.link_of(id))) {
      seen.push_back(classes_.of_link[on]);
      seen.push_back(core_of(placed_, around_, on, id));
    }
  }

  /// Classes that cross the link and whose core it is to them, ascending, and how many connections of each do.
  std::vector<std::pair<int, int>> link_around(int id) const {
    std::vector<std::pair<int, int>> seen;
    around_.crossing(id, [&](int connection, int weight) {
      seen.emplace_back(classes_.of_connection[connection] * 4 + core_of(placed_, around_, id, connection), weight);
    });
    std::sort(seen.begin(), seen.end());
    size_t num = 0;
    for (size_t i = 0; i < seen.size(); ++i) {
      if (num > 0 && seen[num - 1].first == seen[i].first) {
        seen[num - 1].second += seen[i].second;
      } else {
        seen[num++] = seen[i];
      }
    }
    seen.resize(num);
    return seen;
  }

  const PlacedTraffic& placed_;
  const Neighbourhood& around_;
  const Classes& classes_;
  std::vector<int> one_, other_;
};

bool is_stable(const PlacedTraffic& placed, const Channels& channels, const Classes& classes) {
  const Neighbourhood around(placed, channels);
  StabilityCheck check(placed, around, classes);
  return check.lanes() && check.connections() && check.links();
}

struct Colouring {
  Colours lanes, connections, links;
};

Colouring first_colours(const PlacedTraffic& placed, const Neighbourhood& around) {
  Colouring of{Colours(static_cast<size_t>(around.num_lanes())), Colours(static_cast<size_t>(around.num_connections())),
               Colours(static_cast<size_t>(placed.network.num_links()))};
  for (int id = 0; id < around.num_lanes(); ++id) of.lanes[id] = around.content(id).value();
  for (int id = 0; id < around.num_connections(); ++id) {
    const int link = around.link_of(id);
    const int connection = around.connection(id);
    of.connections[id] = Colour(1)
                             .add(placed.latency(link))
                             .add(placed.copy_rate(link, Leg::crossing))
                             .add(placed.copy_rate(link, Leg::reading))
                             .add(placed.work.of_sender(connection))
                             .add(placed.work.of_receiver(connection))
                             .value();
  }
  for (int id = 0; id < placed.network.num_links(); ++id)
    of.links[id] = Colour(2).add(placed.network.link_rate[id]).value();
  return of;
}

/// A round: each colour with those around it.
void refine(const PlacedTraffic& placed, const Neighbourhood& around, const Colouring& now, Colouring& next) {
  for (int id = 0; id < around.num_lanes(); ++id) {
    Colour colour(now.lanes[id]);
    around.ports(id, [&](int connection) { colour.add(now.connections[connection]); });
    around.fellows(id, [&](int lane) { colour.add(now.lanes[lane]); });
    next.lanes[id] = colour.value();
  }
  for (int id = 0; id < around.num_connections(); ++id) {
    const TrafficLink& ends = placed.traffic.links[around.link_of(id)];
    Colour colour(now.connections[id]);
    colour.add(now.lanes[around.sender(id)]).add(now.lanes[around.receiver(id)]);
    colour.add(ends.sender_port).add(ends.receiver_port);
    for (const int on : placed.route(around.link_of(id)))
      colour.add(now.links[on]).add(core_of(placed, around, on, id));
    next.connections[id] = colour.value();
  }
  for (int id = 0; id < placed.network.num_links(); ++id) {
    uint64_t sum = 0;  // of a multiset: order does not matter
    around.crossing(id, [&](int connection, int weight) {
      const int core = core_of(placed, around, id, connection);
      sum += static_cast<uint64_t>(weight) * Colour(3).add(now.connections[connection]).add(core).value();
    });
    next.links[id] = Colour(now.links[id]).add(sum).value();
  }
}

/// The classes of the channels that were looked at, for all.
Classes for_all_channels(const PlacedTraffic& placed, const Channels& channels, const Classes& found) {
  Classes out;
  out.links = found.links;
  out.of_link = found.of_link;
  const auto spread = [&](int per_channel, const std::vector<int>& of, const std::vector<int>& first,
                          std::vector<int>& out_of, std::vector<int>& out_first) {
    for (const int place : channels.place) {
      const auto begin = of.begin() + static_cast<std::ptrdiff_t>(place) * per_channel;
      out_of.insert(out_of.end(), begin, begin + per_channel);
    }
    for (const int id : first) out_first.push_back(channels.ids[id / per_channel] * per_channel + id % per_channel);
  };
  spread(placed.traffic.num_lanes(), found.of_lane, found.lanes, out.of_lane, out.lanes);
  spread(placed.traffic.num_links(), found.of_connection, found.connections, out.of_connection, out.connections);
  return out;
}

Classes distinct_in(const PlacedTraffic& placed, const Channels& channels) {
  const int num_channels = static_cast<int>(channels.ids.size());
  Classes classes;
  number_all(num_channels * placed.traffic.num_lanes(), classes.of_lane, classes.lanes);
  number_all(num_channels * placed.traffic.num_links(), classes.of_connection, classes.connections);
  number_all(placed.network.num_links(), classes.of_link, classes.links);
  return classes;
}

Classes coarsest(const PlacedTraffic& placed, const Channels& channels) {
  constexpr int kMostRounds = 64;
  const Neighbourhood around(placed, channels);
  const size_t most = static_cast<size_t>(around.num_lanes()) / 8;
  Colouring now = first_colours(placed, around), next = now;
  ColourCount count;
  size_t before = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    const size_t num_lanes = count(now.lanes);
    if (num_lanes > most) break;
    const size_t all = num_lanes + count(now.connections) + count(now.links);
    if (all == before) {
      Classes classes;
      classify(now.lanes, classes.of_lane, classes.lanes);
      classify(now.connections, classes.of_connection, classes.connections);
      classify(now.links, classes.of_link, classes.links);
      if (is_stable(placed, channels, classes)) return classes;
      break;
    }
    before = all;
    refine(placed, around, now, next);
    std::swap(now, next);
  }
  return distinct_in(placed, channels);
}

}  // namespace

Classes distinct(const PlacedTraffic& placed) { return distinct_in(placed, all_channels(placed)); }

bool are_stable(const PlacedTraffic& placed, const Classes& classes) {
  return is_stable(placed, all_channels(placed), classes);
}

Classes find_classes(const PlacedTraffic& placed) {
  const Channels channels = one_of_each_kind(placed);
  return for_all_channels(placed, channels, coarsest(placed, channels));
}

}  // namespace ringtree
