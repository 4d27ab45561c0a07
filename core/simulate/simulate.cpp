// See simulate.h.
#include "core/simulate/simulate.h"

#include <algorithm>
#include <optional>

#include "core/simulate/simulation.h"

namespace ringtree {

Simulated simulate(const Traffic& traffic, const CallSize& size, const SimulatedNetwork& network,
                   const WireProtocol& protocol, const SimulateOptions& options) {
  const PlacedTraffic placed(traffic, size, network, protocol);
  const bool is_recorded = options.recording != nullptr;
  if (is_recorded) check_recorded(placed, options.recording->most);
  const Classes classes = options.use_symmetry && !is_recorded ? find_classes(placed) : distinct(placed);
  const FlowGraph graph(placed, classes);
  std::optional<Recorder> recorder;
  if (is_recorded) recorder.emplace(placed, graph, *options.recording);
  Simulation simulation(placed, graph, options.fault, is_recorded ? &*recorder : nullptr);
  simulation.run();
  Simulated out;
  out.num_events = simulation.num_events();
  out.num_lanes = static_cast<int>(graph.lanes.size());
  out.rank_seconds.assign(static_cast<size_t>(traffic.shape.num_ranks), network.launch_cost);
  Mark last = 0;
  for (int id = 0; id < placed.num_lanes(); ++id) {
    const Mark mark = simulation.last_mark(classes.of_lane[id]);
    const double seconds = static_cast<double>(simulation.path().at(mark)) / kTicksPerSecond;
    const int rank = traffic.lane_rank[id % traffic.num_lanes()];
    if (traffic.shape.is_switch(rank)) continue;  // a rank gets what it sends later
    out.rank_seconds[rank] = std::max(out.rank_seconds[rank], seconds);
    if (simulation.path().at(mark) > simulation.path().at(last)) last = mark;
  }
  out.seconds = static_cast<double>(simulation.path().at(last)) / kTicksPerSecond;
  for (const int of : classes.of_link) {
    out.link_bytes.push_back(simulation.link_bytes(of));
    out.link_busy.push_back(simulation.link_busy(of));
  }
  out.limit = simulation.path().accounts(last);
  for (auto& [link, seconds] : out.limit.links) link = classes.links[link];
  return out;
}

}  // namespace ringtree
