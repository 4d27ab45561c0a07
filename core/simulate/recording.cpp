// See recording.h.
#include "core/simulate/recording.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/simulate/simulated_state.h"

namespace ringtree {

int64_t num_recorded(const PlacedTraffic& placed) {
  const Traffic& traffic = placed.traffic;
  std::vector<int64_t> of_channel(static_cast<size_t>(placed.size.num_channels));
  int64_t sum = 0;
  for (int channel = 0; channel < placed.size.num_channels; ++channel) {
    int64_t& count = of_channel[static_cast<size_t>(channel)];
    if (const int like = placed.like(channel); like < channel) {
      count = of_channel[static_cast<size_t>(like)];
    } else {
      for (const TrafficStep& step : traffic.steps)
        for (size_t pass = 0; pass < placed.cut.num_passes; ++pass) {
          const size_t bytes = placed.bytes_in_pass(step, channel, pass);
          if (bytes > 0 || pass == 0)
            count += static_cast<int64_t>(num_slices(bytes, placed.cut.slice_bytes)) * (1 + step.num_send);
        }
    }
    sum += count;
  }
  return sum;
}

void check_recorded(const PlacedTraffic& placed, int64_t most) {
  const int64_t there = num_recorded(placed);
  most = std::min<int64_t>(most, std::numeric_limits<int32_t>::max());
  if (there > most)
    throw UsageError(placed.traffic.shape.name + " on " + std::to_string(placed.traffic.shape.num_ranks) +
                     " ranks has " + std::to_string(there) + " slices and messages with " +
                     std::to_string(placed.size.num_channels) + " channels, more than the " + std::to_string(most) +
                     " that are recorded: ask for fewer bytes, ranks or channels");
}

Recorder::Recorder(const PlacedTraffic& placed, const FlowGraph& graph, Recording& out)
    : placed_(placed), graph_(graph), out_(out), begun_(graph.lanes.size()), sent_(graph.connections.size()) {
  out_.slices.clear();
  out_.messages.clear();
}

void Recorder::end_slice(int index, const SimulatedLane& state, size_t bytes, Ticks at) {
  const GraphLane& lane = graph_.lanes[static_cast<size_t>(index)];
  const Traffic& traffic = placed_.traffic;
  const auto number = static_cast<int32_t>(out_.slices.size());
  const auto step =
      static_cast<int32_t>(state.step - traffic.steps.data()) - traffic.lane_first_step[static_cast<size_t>(lane.lane)];
  out_.slices.push_back({begun_[static_cast<size_t>(index)], at, static_cast<int64_t>(bytes), lane.rank, lane.channel,
                         traffic.number(lane.lane), step, static_cast<int32_t>(state.pass), state.slice});
  for (const int port : traffic.recv_ports(*state.step)) {
    Sent& sent = sent_[static_cast<size_t>(state.ports[port])];
    out_.messages[static_cast<size_t>(sent.messages[sent.num_read++])].read_by = number;
  }
  for (const int port : traffic.send_ports(*state.step)) {
    const int id = state.ports[port];
    const int receiver = graph_.connections[static_cast<size_t>(id)].receiver;
    sent_[static_cast<size_t>(id)].messages.push_back(static_cast<int32_t>(out_.messages.size()));
    RecordedMessage& message = out_.messages.emplace_back();
    message.bytes = placed_.protocol.wire_bytes(bytes);
    message.sent_by = number;
    message.src_rank = lane.rank;
    message.dst_rank = graph_.lanes[static_cast<size_t>(receiver)].rank;
    message.channel = lane.channel;
  }
}

void Recorder::end_crossing(int connection, Ticks at, Ticks arrival, int limit) {
  RecordedMessage& message = crossing(connection);
  message.end = at;
  message.arrival = arrival;
  message.limit = limit;
  ++sent_[static_cast<size_t>(connection)].num_crossed;
}

void Recorder::end_reading(int connection, Ticks at, int limit) {
  const Sent& sent = sent_[static_cast<size_t>(connection)];
  RecordedMessage& message = out_.messages[static_cast<size_t>(sent.messages[sent.num_read])];
  message.read = at;
  message.read_limit = limit;
}

}  // namespace ringtree
