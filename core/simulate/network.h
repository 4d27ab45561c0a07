// What the simulator knows of machines: links with a rate and a latency, the links that a message crosses between two
// ranks, how fast ranks copy and reduce, and what a protocol costs. Plain arrays; how they come from hosts, switches
// and tiers is ringtree/simulate/cluster. A switch that reduces is one more rank, after the others, of infinite rates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/schedule/layout.h"

namespace ringtree {

inline constexpr int kNoCore = -1, kAllCores = -2;  // in place of a rank

/// Which links stand for cores: a message crosses its sender's, and then its receiver's reads it. And what a core takes
/// to read or write memory beside moving a message through slots, by how many bytes its rank goes through: caches hold
/// some. Without sizes that takes nothing. core_work.h says what comes of it.
struct CoreMemory {
  double core_rate = 0;        // bytes per second that a core moves through slots, sent and received together
  std::vector<double> bytes;   // that are gone through, ascending
  std::vector<double> rate;    // bytes per second that a core then reads or writes
  std::vector<int> link_core;  // of each link: the rank whose core it stands for, kAllCores or kNoCore; empty: none
};

struct SimulatedNetwork {
  std::vector<double> link_rate;     // bytes per second; a link is one direction
  std::vector<double> link_latency;  // seconds
  // Route i leads from pair_src[i] to pair_dst[i] over route_links[route_offsets[i] … route_offsets[i + 1] - 1]. Only
  // pairs that a schedule uses need be there. A route without links is limited by copying alone.
  std::vector<int> pair_src, pair_dst;
  std::vector<int64_t> route_offsets;
  std::vector<int> route_links;
  std::vector<double> copy_rate;    // of each rank: most that one channel sends, receives or copies, bytes per second
  std::vector<double> reduce_rate;  // of each rank: bytes per second of the result, for a fold of two operands
  double launch_cost = 0;           // seconds until every rank begins
  CoreMemory memory;

  int num_links() const { return static_cast<int>(link_rate.size()); }
  int num_ranks() const { return static_cast<int>(copy_rate.size()); }
};

struct WireProtocol {
  double step_latency = 0;         // seconds that each message takes beside its links' latencies
  double efficiency = 1;           // data's share of the bytes on the wire
  size_t slot_bytes = kSlotBytes;  // of a slot, on the wire: data and flags
  int slots = kSlots;              // of each link of the schedule

  /// Bytes of data that a slot carries: whole cache lines.
  size_t slot_data() const;
  /// Bytes on the wire of a message of `data` bytes.
  int64_t wire_bytes(size_t data) const;
};

/// Throws UsageError that names the entry that can't be: lengths that differ, rates not above 0, latencies below 0,
/// ranks or links that do not exist, a pair twice, a link twice in a route.
void check_network(const SimulatedNetwork& network);
void check_protocol(const WireProtocol& protocol);

}  // namespace ringtree
