// See core_work.h.
#include "core/simulate/core_work.h"

#include <algorithm>
#include <cmath>

#include "core/simulate/placed_traffic.h"

namespace ringtree {
namespace {

/// Bytes of data at one end of a connection, in the whole call.
struct End {
  double bytes = 0;    // of its messages
  double written = 0;  // of them in slots; less than `bytes` where a slot has several readers
  double touched = 0;  // of buffers, by the steps that send or receive them: this end's share
  double folded = 0;   // by the steps that receive them: this end's share
};

struct Tally {
  std::vector<End> senders, receivers;  // of connections
  std::vector<double> buffers, slots;   // of ranks
};

Tally tally_of(const PlacedTraffic& placed) {
  const Traffic& traffic = placed.traffic;
  Tally out{std::vector<End>(static_cast<size_t>(placed.num_connections())),
            std::vector<End>(static_cast<size_t>(placed.num_connections())),
            std::vector<double>(static_cast<size_t>(traffic.shape.num_programs())),
            std::vector<double>(static_cast<size_t>(traffic.shape.num_programs()))};
  for (int channel = 0; channel < placed.size.num_channels; ++channel)
    for (int lane = 0; lane < traffic.num_lanes(); ++lane) {
      const auto connection_of = [&](int port) {
        return channel * traffic.num_links() + traffic.port_link[traffic.lane_first_port[lane] + port];
      };
      for (int i = traffic.lane_first_step[lane]; i < traffic.lane_first_step[lane + 1]; ++i) {
        const TrafficStep& step = traffic.steps[i];
        const double bytes = static_cast<double>(placed.step_bytes(step, channel)), touched = step.num_touched * bytes;
        out.buffers[traffic.lane_rank[lane]] += touched;
        const double share = touched / std::max(1, step.num_recv + step.num_send);
        for (const int port : traffic.recv_ports(step)) {
          End& end = out.receivers[connection_of(port)];
          end.bytes += bytes, end.written += bytes, end.touched += share;
          end.folded += step.num_folds * bytes / step.num_recv;
        }
        for (const int port : traffic.send_ports(step)) {
          End& end = out.senders[connection_of(port)];
          end.bytes += bytes, end.written += bytes / step.num_send, end.touched += share;
        }
      }
    }
  const double ring = static_cast<double>(placed.cut.slice_bytes) * placed.protocol.slots;
  for (int id = 0; id < placed.num_connections(); ++id) {
    const TrafficLink& link = traffic.links[id % traffic.num_links()];
    const double in_slots = std::min(ring, out.senders[id].bytes) / placed.protocol.efficiency;
    out.slots[link.src_rank] += in_slots;
    out.slots[link.dst_rank] += in_slots;
  }
  return out;
}

}  // namespace

double pace(const CoreMemory& memory, double bytes) {
  if (memory.bytes.empty()) return 0;
  const size_t above =
      static_cast<size_t>(std::upper_bound(memory.bytes.begin(), memory.bytes.end(), bytes) - memory.bytes.begin());
  if (above == 0) return 1 / memory.rate.front();
  if (above == memory.bytes.size()) return 1 / memory.rate.back();
  const double part =
      std::log(bytes / memory.bytes[above - 1]) / std::log(memory.bytes[above] / memory.bytes[above - 1]);
  return (1 - part) / memory.rate[above - 1] + part / memory.rate[above];
}

CoreWork::CoreWork(const PlacedTraffic& placed) {
  const CoreMemory& memory = placed.network.memory;
  if (memory.link_core.empty()) return;
  const Tally tally = tally_of(placed);
  std::vector<double> of_slots, of_buffers;
  for (size_t rank = 0; rank < tally.slots.size(); ++rank) {
    const double slots = tally.slots[rank], buffers = tally.buffers[rank];
    of_slots.push_back(pace(memory, slots + std::min(slots, buffers)));
    of_buffers.push_back(pace(memory, slots + buffers));
    copies_.push_back(2 * of_buffers.back());
  }
  const auto work = [&](const End& end, int rank) {
    if (end.bytes == 0) return 1.0;
    const double written = end.written / end.bytes;
    // What crosses are bytes on the wire, which lie in slots; buffers hold data alone.
    const double data = placed.protocol.efficiency / end.bytes;
    const double seconds = written * of_slots[rank] + end.touched * data * of_buffers[rank] +
                           end.folded * data / placed.network.reduce_rate[rank];
    return written + memory.core_rate * seconds;
  };
  for (int id = 0; id < placed.num_connections(); ++id) {
    const TrafficLink& link = placed.traffic.links[id % placed.traffic.num_links()];
    ends_.push_back({work(tally.senders[id], link.src_rank), work(tally.receivers[id], link.dst_rank)});
  }
}

}  // namespace ringtree
