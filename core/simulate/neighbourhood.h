// What stands around a lane, connection or link of the network, and its content, for colouring. Not the colouring
// itself (classes.cpp).
//
// Channels whose chunks have the same bytes are alike whatever the network is, since a route does not depend on the
// channel: one of each kind can be looked at, and stand for as many as there are.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/simulate/placed_traffic.h"

namespace ringtree {

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

/// Channels that are looked at, and how many each of them stands for.
struct Channels {
  std::vector<int> ids, weights;
  std::vector<int> place;  // of each channel of the call: its index in `ids`, or that of the one it is like
};

inline Channels all_channels(const PlacedTraffic& placed) {
  Channels out;
  for (int channel = 0; channel < placed.size.num_channels; ++channel) out.ids.push_back(channel);
  out.weights.assign(out.ids.size(), 1);
  out.place = out.ids;
  return out;
}

inline Channels one_of_each_kind(const PlacedTraffic& placed) {
  Channels out;
  for (int channel = 0; channel < placed.size.num_channels; ++channel) {
    const int like = placed.like(channel);
    if (like == channel) {
      out.place.push_back(static_cast<int>(out.ids.size()));
      out.ids.push_back(channel);
      out.weights.push_back(1);
    } else {
      out.place.push_back(out.place[like]);
      ++out.weights[out.place[like]];
    }
  }
  return out;
}

/// One lane, connection or link of the network as its neighbours see it. Ids are those of PlacedTraffic, with the index
/// in Channels::ids in place of the channel.
class Neighbourhood {
 public:
  Neighbourhood(const PlacedTraffic& placed, const Channels& channels)
      : placed_(placed), channels_(channels), t_(placed.traffic), lanes_(t_.num_lanes()), links_(t_.num_links()) {}

  int num_channels() const { return static_cast<int>(channels_.ids.size()); }
  int num_lanes() const { return num_channels() * lanes_; }
  int num_connections() const { return num_channels() * links_; }

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
  template <class Visit>  // (connection, how many it stands for) for each that crosses a link of the network
  void crossing(int network_link, Visit visit) const {
    for (int channel = 0; channel < num_channels(); ++channel)
      for (const int link : placed_.crossing(network_link)) visit(channel * links_ + link, channels_.weights[channel]);
  }
  int connection(int id) const { return channels_.ids[id / links_] * links_ + link_of(id); }  // of PlacedTraffic
  int sender(int id) const { return id / links_ * lanes_ + t_.links[link_of(id)].sender; }
  int receiver(int id) const { return id / links_ * lanes_ + t_.links[link_of(id)].receiver; }

  Colour content(int id) const {
    const int lane = lane_of(id), channel = like(id), rank = t_.lane_rank[lane];
    Colour colour;
    colour.add(t_.number(lane)).add(placed_.own_copy_rate(rank)).add(placed_.network.reduce_rate[rank]);
    colour.add(placed_.own_fold_seconds(rank));
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
    const int lane_a = lane_of(a), lane_b = lane_of(b), channel_a = like(a), channel_b = like(b);
    const int rank_a = t_.lane_rank[lane_a], rank_b = t_.lane_rank[lane_b];
    if (t_.number(lane_a) != t_.number(lane_b) || placed_.own_copy_rate(rank_a) != placed_.own_copy_rate(rank_b) ||
        placed_.network.reduce_rate[rank_a] != placed_.network.reduce_rate[rank_b] ||
        placed_.own_fold_seconds(rank_a) != placed_.own_fold_seconds(rank_b))
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
  int like(int id) const { return placed_.like(channels_.ids[id / lanes_]); }

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
  const Channels& channels_;
  const Traffic& t_;
  int lanes_, links_;
};

}  // namespace ringtree
