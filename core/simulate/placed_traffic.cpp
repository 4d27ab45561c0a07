// See placed_traffic.h.
#include "core/simulate/placed_traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/base/error.h"

namespace ringtree {

PlacedTraffic::PlacedTraffic(const Traffic& of, const CallSize& call, const SimulatedNetwork& on,
                             const WireProtocol& with)
    : traffic(of), size(call), network(on), protocol(with) {
  check_network(network);
  check_protocol(protocol);
  if (size.item_size == 0) throw UsageError("an element needs at least one byte");
  if (size.num_channels < 1) throw UsageError("a call needs at least one channel");
  if (network.num_ranks() < traffic.shape.num_programs())
    throw UsageError("the network has " + std::to_string(network.num_ranks()) + " ranks, " + traffic.shape.name +
                     " needs " + std::to_string(traffic.shape.num_programs()) +
                     (traffic.shape.switches.empty() ? "" : " with its switches"));
  const Layout layout(traffic.shape, size.count);
  size_t longest = 0;
  for (int channel = 0; channel < size.num_channels; ++channel) {
    for (int chunk = 0; chunk < traffic.shape.num_chunks; ++chunk) {
      part_bytes_.push_back(layout.part(chunk, channel, size.num_channels).length * size.item_size);
      longest = std::max(longest, part_bytes_.back());
    }
    int same = 0;
    const auto parts = [&](int of_channel) {
      return std::span(part_bytes_)
          .subspan(static_cast<size_t>(of_channel) * traffic.shape.num_chunks,
                   static_cast<size_t>(traffic.shape.num_chunks));
    };
    while (!std::equal(parts(same).begin(), parts(same).end(), parts(channel).begin())) ++same;
    like_.push_back(same);
  }
  cut = cut_parts(longest, traffic.shape.widest, protocol.slots, protocol.slot_data(), size.slice_bytes);
  find_routes();
  list_crossing();
  work = CoreWork(*this);
}

size_t PlacedTraffic::bytes_in_pass(const TrafficStep& step, int channel, size_t pass) const {
  size_t bytes = 0;
  const size_t begin = pass * cut.pass_bytes;
  for (int i = 0; i < step.chunks.count; ++i) {
    const size_t part = part_bytes(channel, step.chunks.id(i, traffic.shape.num_chunks));
    if (part > begin) bytes += std::min(cut.pass_bytes, part - begin);
  }
  return bytes;
}

size_t PlacedTraffic::step_bytes(const TrafficStep& step, int channel) const {
  size_t bytes = 0;
  for (int i = 0; i < step.chunks.count; ++i) bytes += part_bytes(channel, step.chunks.id(i, traffic.shape.num_chunks));
  return bytes;
}

void PlacedTraffic::find_routes() {
  const size_t num_pairs = network.pair_src.size();
  std::vector<int> by_pair(num_pairs);
  std::iota(by_pair.begin(), by_pair.end(), 0);
  const auto ends = [&](int pair) { return std::pair(network.pair_src[pair], network.pair_dst[pair]); };
  std::sort(by_pair.begin(), by_pair.end(), [&](int a, int b) { return ends(a) < ends(b); });
  for (size_t i = 1; i < num_pairs; ++i)
    if (ends(by_pair[i - 1]) == ends(by_pair[i]))
      throw UsageError("network: two routes " + std::to_string(ends(by_pair[i]).first) + " -> " +
                       std::to_string(ends(by_pair[i]).second));
  route_of_link_.reserve(traffic.links.size());
  for (const TrafficLink& link : traffic.links) {
    const std::pair wanted(link.src_rank, link.dst_rank);
    const auto found = std::lower_bound(by_pair.begin(), by_pair.end(), wanted,
                                        [&](int pair, const std::pair<int, int>& key) { return ends(pair) < key; });
    if (found == by_pair.end() || ends(*found) != wanted)
      throw UsageError("network: no route " + std::to_string(wanted.first) + " -> " + std::to_string(wanted.second) +
                       ", which " + traffic.shape.name + " needs");
    route_of_link_.push_back(*found);
  }
}

void PlacedTraffic::list_crossing() {
  first_crossing_.assign(network.link_rate.size() + 1, 0);
  for (int link = 0; link < traffic.num_links(); ++link)
    for (const int on : route(link)) ++first_crossing_[static_cast<size_t>(on) + 1];
  std::partial_sum(first_crossing_.begin(), first_crossing_.end(), first_crossing_.begin());
  crossing_.resize(static_cast<size_t>(first_crossing_.back()));
  std::vector<int64_t> next(first_crossing_.begin(), first_crossing_.end() - 1);
  for (int link = 0; link < traffic.num_links(); ++link)
    for (const int on : route(link)) crossing_[static_cast<size_t>(next[static_cast<size_t>(on)]++)] = link;
}

std::span<const int> PlacedTraffic::route(int link) const {
  const size_t pair = static_cast<size_t>(route_of_link_[static_cast<size_t>(link)]);
  const int64_t first = network.route_offsets[pair];
  return std::span(network.route_links)
      .subspan(static_cast<size_t>(first), static_cast<size_t>(network.route_offsets[pair + 1] - first));
}

std::span<const int> PlacedTraffic::crossing(int network_link) const {
  const int64_t first = first_crossing_[static_cast<size_t>(network_link)];
  return std::span(crossing_).subspan(
      static_cast<size_t>(first), static_cast<size_t>(first_crossing_[static_cast<size_t>(network_link) + 1] - first));
}

double PlacedTraffic::latency(int link) const {
  double seconds = protocol.step_latency;
  for (const int on : route(link)) seconds += network.link_latency[static_cast<size_t>(on)];
  return seconds;
}

double PlacedTraffic::copy_rate(int link, Leg leg) const {
  const TrafficLink& ends = traffic.links[static_cast<size_t>(link)];
  const double sender = network.copy_rate[static_cast<size_t>(ends.src_rank)],
               receiver = network.copy_rate[static_cast<size_t>(ends.dst_rank)];
  if (leg == Leg::reading) return receiver;
  return has_reading(link) ? sender : std::min(sender, receiver);
}

double PlacedTraffic::own_copy_rate(int rank) const {
  const double rate = network.copy_rate[static_cast<size_t>(rank)], seconds = work.copy_seconds(rank);
  return seconds == 0 || std::isinf(rate) ? rate : std::min(rate, 1 / seconds);  // a switch copies in no time
}

double PlacedTraffic::own_fold_seconds(int rank) const {
  return std::isinf(network.copy_rate[static_cast<size_t>(rank)]) ? 0 : work.copy_seconds(rank);
}

PlacedTraffic::Core PlacedTraffic::core(int network_link, int link) const {
  if (network.memory.link_core.empty()) return Core::none;
  const int of = network.memory.link_core[static_cast<size_t>(network_link)];
  const TrafficLink& ends = traffic.links[static_cast<size_t>(link)];
  if (of == kAllCores) return Core::all;
  return of == ends.src_rank ? Core::of_sender : of == ends.dst_rank ? Core::of_receiver : Core::none;
}

bool PlacedTraffic::takes(int network_link, int link, Leg leg) const {
  const Core of = core(network_link, link);
  return of == Core::all || (of == Core::of_receiver) == (leg == Leg::reading);
}

bool PlacedTraffic::has_reading(int link) const {
  const auto all = route(link);
  return std::any_of(all.begin(), all.end(), [&](int on) { return takes(on, link, Leg::reading); });
}

double PlacedTraffic::weight(int network_link, int connection, Leg leg) const {
  if (core(network_link, connection % traffic.num_links()) == Core::none) return 1;
  return leg == Leg::reading ? work.of_receiver(connection) : work.of_sender(connection);
}

}  // namespace ringtree
