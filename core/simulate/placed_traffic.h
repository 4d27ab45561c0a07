// A schedule's traffic with a size, on a network: how many bytes each chunk has on each channel, how they are cut, and
// the links that each message crosses. Not the simulation: nothing here has a time.
//
// A connection is a link of the schedule on one channel: connection channel · num_links + link. Lanes likewise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/layout.h"
#include "core/simulate/core_work.h"
#include "core/simulate/network.h"
#include "core/simulate/traffic.h"

namespace ringtree {

struct CallSize {
  size_t count = 0;  // elements, as in Layout
  size_t item_size = 1;
  int num_channels = 1;
  size_t slice_bytes = 0;  // as cut_parts() has it: 0 for about slots/2 slices a step
};

/// What a message takes of links, one after the other. It crosses: its sender writes it, and it travels. Where the
/// receiver's core is a link (CoreMemory::link_core), that core then reads it, as soon as a slice takes it.
enum class Leg : uint8_t { crossing, reading };

class PlacedTraffic {
 public:
  /// Throws UsageError for an impossible network, protocol or size, and for a pair of ranks without a route.
  PlacedTraffic(const Traffic& traffic, const CallSize& size, const SimulatedNetwork& network,
                const WireProtocol& protocol);

  int num_lanes() const { return size.num_channels * traffic.num_lanes(); }
  int num_connections() const { return size.num_channels * traffic.num_links(); }

  /// Bytes of data of the step on a channel in a pass.
  size_t bytes_in_pass(const TrafficStep& step, int channel, size_t pass) const;
  /// And in all passes.
  size_t step_bytes(const TrafficStep& step, int channel) const;
  size_t part_bytes(int channel, int chunk) const {
    return part_bytes_[static_cast<size_t>(channel) * static_cast<size_t>(traffic.shape.num_chunks) +
                       static_cast<size_t>(chunk)];
  }
  /// The first channel whose chunks have the same bytes.
  int like(int channel) const { return like_[static_cast<size_t>(channel)]; }

  std::span<const int> route(int link) const;
  /// Links of the schedule whose route has a link of the network, on each channel.
  std::span<const int> crossing(int network_link) const;
  /// Seconds from a message's last byte leaving to its arrival.
  double latency(int link) const;
  /// Most bytes per second that copying allows.
  double copy_rate(int link, Leg leg) const;
  /// Bytes per second that a rank copies for itself.
  double own_copy_rate(int rank) const;
  /// Seconds a byte that a rank reads and writes for a fold without messages, beside folding. None where it copies in
  /// no time.
  double own_fold_seconds(int rank) const;

  /// Whose core a link of the network is to a link of the schedule that crosses it.
  enum class Core : uint8_t { none, of_sender, of_receiver, all };
  Core core(int network_link, int link) const;
  /// Whether the leg takes a link of the route: reading takes cores alone, crossing all but the receiver's.
  bool takes(int network_link, int link, Leg leg) const;
  /// Whether the route has a core that reads.
  bool has_reading(int link) const;
  /// Bytes that a byte of a connection counts on a link of the network: 1, but on cores (core_work.h).
  double weight(int network_link, int connection, Leg leg) const;

  const Traffic& traffic;
  const CallSize size;
  const SimulatedNetwork& network;
  const WireProtocol& protocol;
  Cut cut;
  CoreWork work;

 private:
  void find_routes();
  void list_crossing();

  std::vector<size_t> part_bytes_;
  std::vector<int> like_;
  std::vector<int> route_of_link_;  // index in network.pair_src
  std::vector<int64_t> first_crossing_;
  std::vector<int> crossing_;
};

}  // namespace ringtree
