// See classes.h. Colours are refined round by round: a colour is a hash of the colours around it in the round before.
#include "core/simulate/classes.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace ringtree {
namespace {

using Colours = std::vector<uint64_t>;

/// splitmix64's finisher over a running value: order matters.
class Colour {
 public:
  explicit Colour(uint64_t start = 0) : value_(start) {}
  Colour& add(uint64_t word) {
    value_ += 0x9e3779b97f4a7c15u + word;
    value_ = (value_ ^ (value_ >> 30)) * 0xbf58476d1ce4e5b9u;
    value_ = (value_ ^ (value_ >> 27)) * 0x94d049bb133111ebu;
    value_ ^= value_ >> 31;
    return *this;
  }
  Colour& add(int word) { return add(static_cast<uint64_t>(word)); }
  Colour& add(double number) { return add(std::bit_cast<uint64_t>(number)); }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_;
};

size_t num_colours(Colours colours) {
  std::sort(colours.begin(), colours.end());
  return static_cast<size_t>(std::unique(colours.begin(), colours.end()) - colours.begin());
}

/// One lane, connection or link of the network as its neighbours see it, by id.
class Neighbourhood {
 public:
  explicit Neighbourhood(const PlacedTraffic& placed)
      : placed_(placed), t_(placed.traffic), lanes_(t_.num_lanes()), links_(t_.num_links()) {}

  int lane_of(int id) const { return id % lanes_; }
  int link_of(int id) const { return id % links_; }

  template <class Visit>  // (connection) for each port, in order
  void ports(int id, Visit visit) const {
    const int lane = lane_of(id), channel = id / lanes_;
    for (int at = t_.lane_first_port[lane]; at < t_.lane_first_port[lane + 1]; ++at)
      visit(channel * links_ + t_.port_link[at]);
  }
  template <class Visit>  // (lane) for each lane of the rank on the channel, in order
  void fellows(int id, Visit visit) const {
    const int rank = t_.lane_rank[lane_of(id)], channel = id / lanes_;
    for (int lane = t_.rank_first_lane[rank]; lane < t_.rank_first_lane[rank + 1]; ++lane)
      visit(channel * lanes_ + lane);
  }
  template <class Visit>  // (connection) for each that crosses a link of the network
  void crossing(int network_link, Visit visit) const {
    for (int channel = 0; channel < placed_.size.num_channels; ++channel)
      for (const int link : placed_.crossing(network_link)) visit(channel * links_ + link);
  }
  int sender(int id) const { return id / links_ * lanes_ + t_.links[link_of(id)].sender; }
  int receiver(int id) const { return id / links_ * lanes_ + t_.links[link_of(id)].receiver; }

  Colour content(int id) const {
    const int lane = lane_of(id), channel = placed_.like(id / lanes_), rank = t_.lane_rank[lane];
    Colour colour;
    colour.add(t_.number(lane)).add(placed_.network.copy_rate[rank]).add(placed_.network.reduce_rate[rank]);
    for (int i = t_.lane_first_step[lane]; i < t_.lane_first_step[lane + 1]; ++i) {
      const TrafficStep& step = t_.steps[i];
      colour.add(step.num_folds).add(step.copies ? 1 : 0).add(step.chunks.count);
      for (int k = 0; k < step.chunks.count; ++k)
        colour.add(uint64_t{placed_.part_bytes(channel, step.chunks.id(k, t_.shape.num_chunks))});
      colour.add(step.num_recv).add(step.num_send);
      for (int k = 0; k < step.num_recv + step.num_send; ++k) colour.add(t_.step_ports[step.first_port + k]);
      for (int k = step.first_wait; k < step.first_wait + step.num_waits; ++k) {
        const TrafficWait& wait = t_.waits[k];
        colour.add(wait.lane).add(wait.step).add((wait.by_slice ? 2 : 0) + (wait.previous_pass ? 1 : 0));
      }
    }
    return colour;
  }

  bool same_content(int a, int b) const {
    const int lane_a = lane_of(a), lane_b = lane_of(b), channel_a = placed_.like(a / lanes_),
              channel_b = placed_.like(b / lanes_);
    const int rank_a = t_.lane_rank[lane_a], rank_b = t_.lane_rank[lane_b];
    if (t_.number(lane_a) != t_.number(lane_b) ||
        placed_.network.copy_rate[rank_a] != placed_.network.copy_rate[rank_b] ||
        placed_.network.reduce_rate[rank_a] != placed_.network.reduce_rate[rank_b])
      return false;
    if (lane_a == lane_b && channel_a == channel_b) return true;
    const int from_a = t_.lane_first_step[lane_a], from_b = t_.lane_first_step[lane_b],
              count = t_.lane_first_step[lane_a + 1] - from_a;
    if (t_.lane_first_step[lane_b + 1] - from_b != count) return false;
    for (int i = 0; i < count; ++i)
      if (!same_step(from_a + i, channel_a, from_b + i, channel_b)) return false;
    return true;
  }

 private:
  bool same_step(int a, int channel_a, int b, int channel_b) const {
    const TrafficStep &one = t_.steps[a], &other = t_.steps[b];
    if (one.num_folds != other.num_folds || one.copies != other.copies || one.chunks.count != other.chunks.count ||
        one.num_recv != other.num_recv || one.num_send != other.num_send || one.num_waits != other.num_waits)
      return false;
    for (int k = 0; k < one.chunks.count; ++k)
      if (placed_.part_bytes(channel_a, one.chunks.id(k, t_.shape.num_chunks)) !=
          placed_.part_bytes(channel_b, other.chunks.id(k, t_.shape.num_chunks)))
        return false;
    const auto same = [](const auto& list, int from, int from_other, int count) {
      return std::equal(list.begin() + from, list.begin() + from + count, list.begin() + from_other);
    };
    return same(t_.step_ports, one.first_port, other.first_port, one.num_recv + one.num_send) &&
           same(t_.waits, one.first_wait, other.first_wait, one.num_waits);
  }

  const PlacedTraffic& placed_;
  const Traffic& t_;
  int lanes_, links_;
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

}  // namespace

Classes distinct(const PlacedTraffic& placed) {
  Classes classes;
  number_all(placed.num_lanes(), classes.of_lane, classes.lanes);
  number_all(placed.num_connections(), classes.of_connection, classes.connections);
  number_all(placed.network.num_links(), classes.of_link, classes.links);
  return classes;
}

bool are_stable(const PlacedTraffic& placed, const Classes& classes) {
  const Neighbourhood around(placed);
  const auto lane_around = [&](int id) {
    std::vector<int> seen;
    around.ports(id, [&](int connection) { seen.push_back(classes.of_connection[connection]); });
    seen.push_back(-1);
    around.fellows(id, [&](int lane) { seen.push_back(classes.of_lane[lane]); });
    return seen;
  };
  for (int id = 0; id < placed.num_lanes(); ++id) {
    const int first = classes.lanes[classes.of_lane[id]];
    if (id != first && (!around.same_content(id, first) || lane_around(id) != lane_around(first))) return false;
  }
  const auto connection_around = [&](int id) {
    const TrafficLink& ends = placed.traffic.links[around.link_of(id)];
    std::vector<int> seen{classes.of_lane[around.sender(id)], classes.of_lane[around.receiver(id)], ends.sender_port,
                          ends.receiver_port};
    for (const int on : placed.route(around.link_of(id))) seen.push_back(classes.of_link[on]);
    return seen;
  };
  for (int id = 0; id < placed.num_connections(); ++id) {
    const int first = classes.connections[classes.of_connection[id]];
    const int link = around.link_of(id), first_link = around.link_of(first);
    if (id != first &&
        (connection_around(id) != connection_around(first) || placed.latency(link) != placed.latency(first_link) ||
         placed.copy_rate(link) != placed.copy_rate(first_link)))
      return false;
  }
  const auto link_around = [&](int id) {
    std::vector<int> seen;
    around.crossing(id, [&](int connection) { seen.push_back(classes.of_connection[connection]); });
    std::sort(seen.begin(), seen.end());
    return seen;
  };
  for (int id = 0; id < placed.network.num_links(); ++id) {
    const int first = classes.links[classes.of_link[id]];
    if (id != first &&
        (placed.network.link_rate[id] != placed.network.link_rate[first] || link_around(id) != link_around(first)))
      return false;
  }
  return true;
}

Classes find_classes(const PlacedTraffic& placed) {
  constexpr int kMostRounds = 64;
  const Neighbourhood around(placed);
  const size_t most = static_cast<size_t>(placed.num_lanes()) / 8;
  Colours lanes(static_cast<size_t>(placed.num_lanes())), connections(static_cast<size_t>(placed.num_connections())),
      links(static_cast<size_t>(placed.network.num_links()));
  for (int id = 0; id < placed.num_lanes(); ++id) {
    const int channel = id / std::max(1, placed.traffic.num_lanes()), like = placed.like(channel);
    lanes[id] =
        like == channel ? around.content(id).value() : lanes[id - (channel - like) * placed.traffic.num_lanes()];
  }
  for (int id = 0; id < placed.num_connections(); ++id) {
    const int link = around.link_of(id);
    connections[id] = Colour(1).add(placed.latency(link)).add(placed.copy_rate(link)).value();
  }
  for (int id = 0; id < placed.network.num_links(); ++id)
    links[id] = Colour(2).add(placed.network.link_rate[id]).value();
  size_t before = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    if (num_colours(lanes) > most) break;
    const size_t now = num_colours(lanes) + num_colours(connections) + num_colours(links);
    if (now == before) {
      Classes classes;
      classify(lanes, classes.of_lane, classes.lanes);
      classify(connections, classes.of_connection, classes.connections);
      classify(links, classes.of_link, classes.links);
      return are_stable(placed, classes) ? classes : distinct(placed);
    }
    before = now;
    Colours next_lanes = lanes, next_connections = connections, next_links = links;
    for (int id = 0; id < placed.num_lanes(); ++id) {
      Colour colour(lanes[id]);
      around.ports(id, [&](int connection) { colour.add(connections[connection]); });
      around.fellows(id, [&](int lane) { colour.add(lanes[lane]); });
      next_lanes[id] = colour.value();
    }
    for (int id = 0; id < placed.num_connections(); ++id) {
      const TrafficLink& ends = placed.traffic.links[around.link_of(id)];
      Colour colour(connections[id]);
      colour.add(lanes[around.sender(id)]).add(lanes[around.receiver(id)]);
      colour.add(ends.sender_port).add(ends.receiver_port);
      for (const int on : placed.route(around.link_of(id))) colour.add(links[on]);
      next_connections[id] = colour.value();
    }
    for (int id = 0; id < placed.network.num_links(); ++id) {
      uint64_t sum = 0;  // of a multiset: order does not matter
      around.crossing(id, [&](int connection) { sum += Colour(3).add(connections[connection]).value(); });
      next_links[id] = Colour(links[id]).add(sum).value();
    }
    lanes = std::move(next_lanes);
    connections = std::move(next_connections);
    links = std::move(next_links);
  }
  return distinct(placed);
}

}  // namespace ringtree
