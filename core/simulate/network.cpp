// See network.h.
#include "core/simulate/network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"

namespace ringtree {
namespace {

[[noreturn]] void refuse_network(const std::string& what) { throw UsageError("network: " + what); }

std::string entry(const char* array, size_t index, double value) {
  return std::string(array) + "[" + std::to_string(index) + "] is " + std::to_string(value);
}

void check_rates(const char* array, const std::vector<double>& rates) {
  for (size_t i = 0; i < rates.size(); ++i)
    if (!(rates[i] > 0)) refuse_network(entry(array, i, rates[i]) + ": rates must be above 0");
}

bool is_time(double seconds) { return seconds >= 0 && std::isfinite(seconds); }

void check_routes(const SimulatedNetwork& network) {
  const size_t num_pairs = network.pair_src.size();
  if (network.pair_dst.size() != num_pairs || network.route_offsets.size() != num_pairs + 1)
    refuse_network(std::to_string(num_pairs) + " sources of pairs, " + std::to_string(network.pair_dst.size()) +
                   " destinations and " + std::to_string(network.route_offsets.size()) +
                   " route offsets: pairs need one of each, and one offset more");
  if (network.route_offsets.front() != 0 ||
      network.route_offsets.back() != static_cast<int64_t>(network.route_links.size()))
    refuse_network("route_offsets run from 0 to the number of route_links");
  const auto exists = [&](int rank) { return rank >= 0 && rank < network.num_ranks(); };
  std::vector<size_t> last_route(network.link_rate.size(), std::numeric_limits<size_t>::max());
  for (size_t i = 0; i < num_pairs; ++i) {
    const std::string pair =
        "route " + std::to_string(network.pair_src[i]) + " -> " + std::to_string(network.pair_dst[i]);
    if (!exists(network.pair_src[i]) || !exists(network.pair_dst[i]))
      refuse_network(pair + ": there are " + std::to_string(network.num_ranks()) + " ranks");
    if (network.route_offsets[i] > network.route_offsets[i + 1]) refuse_network(pair + ": route_offsets do not ascend");
    for (int64_t at = network.route_offsets[i]; at < network.route_offsets[i + 1]; ++at) {
      const int link = network.route_links[static_cast<size_t>(at)];
      if (link < 0 || link >= network.num_links())
        refuse_network(pair + ": link " + std::to_string(link) + " of " + std::to_string(network.num_links()) +
                       " does not exist");
      if (last_route[static_cast<size_t>(link)] == i)
        refuse_network(pair + ": crosses link " + std::to_string(link) + " twice");
      last_route[static_cast<size_t>(link)] = i;
    }
  }
}

void check_memory(const CoreMemory& memory, size_t num_links, int num_ranks) {
  if (memory.bytes.size() != memory.rate.size())
    refuse_network(std::to_string(memory.bytes.size()) + " sizes of memory, but " + std::to_string(memory.rate.size()) +
                   " rates");
  if (memory.bytes.empty() && memory.link_core.empty()) return;
  check_rates("memory.rate", memory.rate);
  for (size_t i = 0; i < memory.bytes.size(); ++i)
    if (!(memory.bytes[i] > (i == 0 ? 0 : memory.bytes[i - 1])))
      refuse_network(entry("memory.bytes", i, memory.bytes[i]) + ": sizes must be above 0 and ascending");
  if (!(memory.core_rate > 0) || !std::isfinite(memory.core_rate))
    refuse_network("memory.core_rate is " + std::to_string(memory.core_rate) +
                   ": it is above 0 and finite; leave `memory` out if cores take no time");
  if (memory.link_core.size() != num_links)
    refuse_network(std::to_string(num_links) + " link rates, but memory.link_core has " +
                   std::to_string(memory.link_core.size()) + " entries");
  for (const int core : memory.link_core)
    if (core < kAllCores || core >= num_ranks) refuse_network("memory.link_core: no rank " + std::to_string(core));
}

}  // namespace

size_t WireProtocol::slot_data() const {
  constexpr double kLine = 64;
  return static_cast<size_t>(static_cast<double>(slot_bytes) * efficiency / kLine + 1e-9) * 64;
}

int64_t WireProtocol::wire_bytes(size_t data) const {
  return static_cast<int64_t>(std::ceil(static_cast<double>(data) / efficiency - 1e-9));
}

void check_network(const SimulatedNetwork& network) {
  if (network.link_latency.size() != network.link_rate.size())
    refuse_network(std::to_string(network.link_rate.size()) + " link rates, but " +
                   std::to_string(network.link_latency.size()) + " latencies");
  if (network.reduce_rate.size() != network.copy_rate.size())
    refuse_network(std::to_string(network.copy_rate.size()) + " copy rates, but " +
                   std::to_string(network.reduce_rate.size()) + " reduction rates");
  check_rates("link_rate", network.link_rate);
  check_rates("copy_rate", network.copy_rate);
  check_rates("reduce_rate", network.reduce_rate);
  for (size_t i = 0; i < network.link_latency.size(); ++i)
    if (!is_time(network.link_latency[i]))
      refuse_network(entry("link_latency", i, network.link_latency[i]) + ": latencies must be 0 or more seconds");
  if (!is_time(network.launch_cost)) refuse_network("launch_cost must be 0 or more seconds");
  check_routes(network);
  check_memory(network.memory, network.link_rate.size(), network.num_ranks());
}

void check_protocol(const WireProtocol& protocol) {
  if (!is_time(protocol.step_latency)) throw UsageError("protocol: step_latency must be 0 or more seconds");
  if (!(protocol.efficiency > 0) || protocol.efficiency > 1)
    throw UsageError("protocol: efficiency must be above 0 and at most 1, not " + std::to_string(protocol.efficiency));
  if (protocol.slots < 2)
    throw UsageError("protocol: a link needs at least 2 slots, not " + std::to_string(protocol.slots));
  if (protocol.slot_data() < kLeastSliceBytes || protocol.slot_bytes > std::numeric_limits<int>::max())
    throw UsageError("protocol: a slot of " + std::to_string(protocol.slot_bytes) + " bytes carries " +
                     std::to_string(protocol.slot_data()) + " bytes of data; slices have at least " +
                     std::to_string(kLeastSliceBytes));
}

}  // namespace ringtree
