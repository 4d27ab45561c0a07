// See simulate.h. An event is a slice that is done or a message that has crossed. All events of one time are handled
// before rates are shared anew, so their order does not matter.
#include "core/simulate/simulate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/prefetch.h"
#include "core/simulate/event_queue.h"
#include "core/simulate/simulated_state.h"

namespace ringtree {
namespace {

using Kind = CriticalPath::Kind;

class Simulation {
 public:
  /// `recorder`: may be null.
  Simulation(const PlacedTraffic& placed, const FlowGraph& graph, SharingFault fault, Recorder* recorder)
      : placed_(placed),
        traffic_(placed.traffic),
        graph_(graph),
        recorder_(recorder),
        slots_(static_cast<uint32_t>(placed.protocol.slots)),
        sharing_(graph, fault),
        path_(graph),
        lanes_(graph.lanes.size()),
        connections_(graph.connections.size()),
        messages_(graph.connections.size() * static_cast<size_t>(slots_)) {
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const GraphLane& of = graph.lanes[i];
      lanes_[i].step = &traffic_.steps[traffic_.lane_first_step[of.lane]];
      lanes_[i].ports = graph.ports(static_cast<int>(i)).data();
      lanes_[i].copy_rate = of.copy_rate;
      lanes_[i].reduce_rate = of.reduce_rate;
      lanes_[i].fold_seconds = of.fold_seconds;
    }
    for (size_t i = 0; i < connections_.size(); ++i) {
      connections_[i].sender = graph.connections[i].sender;
      connections_[i].receiver = graph.connections[i].receiver;
      connections_[i].latency = graph.connections[i].latency;
    }
  }

  void run() {
    const Ticks launch = ticks_of(placed_.network.launch_cost);
    const Mark start = path_.add(launch, 0, Kind::launch);
    queue_.push({launch, kStart, 0});
    while (!queue_.empty()) {
      do {
        const SimulatedEvent event = queue_.pop();
        if (const SimulatedEvent* soon = queue_.upcoming(kLookAhead)) fetch(*soon);
        handle(event, start);
      } while (queue_.more_now());
      share();
    }
    check_finished();
    check_links();
  }

  const CriticalPath& path() const { return path_; }
  Mark last_mark(int lane) const { return lanes_[lane].last; }
  int64_t num_events() const { return num_events_; }
  /// Of the messages that were sent over a link, whatever it is said to have carried.
  int64_t link_bytes(int link) const {
    int64_t bytes = 0;
    for (const Crossing& one : graph_.crossing(link)) bytes += one.count * connections_[one.connection].bytes_sent;
    return bytes;
  }
  double link_busy(int link) { return static_cast<double>(sharing_.busy(link, queue_.now())) / kTicksPerSecond; }

 private:
  static constexpr uint32_t kStart = ~uint32_t{0};
  static constexpr size_t kLookAhead = 6;

  void fetch(const SimulatedEvent& event) const {
    const size_t index = event.what >> 1;
    if ((event.what & 1) == 0) {
      fetch_whole(lanes_[index]);
    } else {
      fetch_whole(connections_[index]);
      fetch_for_writing(&messages_[index * slots_]);
      fetch_for_writing(&messages_[index * slots_ + slots_ / 2]);
    }
  }

  enum class Trigger : uint8_t { own, message, slot, dependency };

  void handle(const SimulatedEvent& event, Mark start) {
    if (event.what == kStart) {
      for (SimulatedLane& lane : lanes_) lane.last = start;
      for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) begin_step(lane);
      for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) try_slice(lane, Trigger::own, start);
      return;
    }
    const int index = static_cast<int>(event.what >> 1);
    if ((event.what & 1) == 0) {
      ++num_events_;
      finish_slice(index);
    } else if (connections_[index].stamp == event.stamp) {
      ++num_events_;
      finish_crossing(index);
    }
  }

  // --- lanes

  bool finished(const SimulatedLane& lane) const { return lane.pass >= placed_.cut.num_passes; }
  const TrafficStep* step_at(int lane, int step) const {
    return &traffic_.steps[traffic_.lane_first_step[graph_.lanes[lane].lane] + step];
  }
  std::span<const TrafficWait> waits(const TrafficStep* step) const {
    return std::span(traffic_.waits).subspan(step->first_wait, step->num_waits);
  }

  int num_steps(int lane) const {
    const int of = graph_.lanes[lane].lane;
    return traffic_.lane_first_step[of + 1] - traffic_.lane_first_step[of];
  }

  /// False if the step has nothing to do in this pass: it is done when the lane comes to it.
  bool begin_step(int index) {
    SimulatedLane& lane = lanes_[index];
    lane.slice = 0;
    lane.step_bytes = placed_.bytes_in_pass(*lane.step, graph_.lanes[index].channel, lane.pass);
    lane.num_slices = static_cast<int32_t>(num_slices(lane.step_bytes, placed_.cut.slice_bytes));
    return lane.step_bytes > 0 || lane.pass == 0;
  }

  void advance(int index) {
    SimulatedLane& lane = lanes_[index];
    if (++lane.slice < lane.num_slices) return;
    do {
      if (++lane.step == step_at(index, 0) + num_steps(index)) {
        lane.step = step_at(index, 0);
        ++lane.pass;
      }
    } while (!finished(lane) && !begin_step(index));
  }

  bool met(const TrafficWait& wait, int index) const {
    const SimulatedLane& lane = lanes_[index];
    if (wait.previous_pass && lane.pass == 0) return true;
    const int fellow = graph_.fellows(index)[wait.lane];
    const SimulatedLane& other = lanes_[fellow];
    const size_t pass = lane.pass - (wait.previous_pass ? 1 : 0);
    if (other.pass != pass) return other.pass > pass;
    const TrafficStep* const awaited = step_at(fellow, wait.step);
    if (other.step != awaited) return other.step > awaited;
    return wait.by_slice && other.slice > lane.slice;
  }

  size_t slice_bytes(const SimulatedLane& lane) const {
    return std::min(placed_.cut.slice_bytes,
                    lane.step_bytes - static_cast<size_t>(lane.slice) * placed_.cut.slice_bytes);
  }

  SimulatedMessage& message(int connection, int64_t number) {
    return messages_[static_cast<size_t>(connection) * static_cast<size_t>(slots_) +
                     static_cast<size_t>(number % slots_)];
  }

  /// Begins the lane's next slice if all that it waits for is there or has crossed. `trigger`: what has just become
  /// true; `mark`: of whom.
  void try_slice(int index, Trigger trigger, Mark mark) {
    SimulatedLane& lane = lanes_[index];
    if (lane.busy || finished(lane)) return;
    Ticks arrived = 0;
    int awaited = -1;
    for (const int port : traffic_.recv_ports(*lane.step)) {
      const int id = lane.ports[port];
      const SimulatedConnection& connection = connections_[id];
      if (connection.num_crossed == connection.num_read) return;
      const Ticks arrival = message(id, connection.num_read).arrival;
      if (awaited < 0 || arrival > arrived) arrived = arrival, awaited = id;
    }
    for (const int port : traffic_.send_ports(*lane.step)) {
      SimulatedConnection& connection = connections_[lane.ports[port]];
      if (connection.num_sent - connection.num_read < slots_) continue;
      connection.sender_waits = true;
      return;
    }
    for (const TrafficWait& wait : waits(lane.step))
      if (!met(wait, index)) return;
    lane.busy = true;
    const Ticks now = queue_.now(), begin = std::max(now, arrived);
    const double bytes = static_cast<double>(slice_bytes(lane));
    double work = 0;
    if (lane.step->num_folds > 0) work = lane.step->num_folds * bytes / lane.reduce_rate;
    if (lane.step->num_folds > 0 && lane.step->num_recv == 0) work += bytes * lane.fold_seconds;
    if (lane.step->copies) work = bytes / lane.copy_rate;
    blame(lane, lane.step->num_folds > 0, awaited, arrived, trigger, mark);
    if (recorder_ != nullptr) recorder_->begin_slice(index, begin);
    queue_.push({begin + ticks_of(work), static_cast<uint32_t>(index) << 1, 0});
  }

  /// Notes what the slice that the lane begins waited for last.
  void blame(SimulatedLane& lane, bool folds, int awaited, Ticks arrived, Trigger trigger, Mark mark) {
    const Ticks now = queue_.now();
    const auto arrival_of = [&](int id) { return message(id, connections_[id].num_read).crossed; };
    lane.kind = folds ? Kind::reduce : Kind::copy;
    lane.id = 0;
    if (awaited >= 0 && (arrived > now || trigger == Trigger::message)) {
      lane.before = arrival_of(awaited);
      lane.kind = folds ? Kind::arrival_then_reduce : Kind::arrival_then_copy;
      lane.id = awaited;
    } else if (trigger == Trigger::slot) {
      const bool by_arrival = awaited >= 0 && arrived > path_.at(lane.last);
      if (by_arrival) {
        lane.before = path_.add(now, arrival_of(awaited), Kind::arrival_then_slots, awaited);
      } else {
        lane.before = path_.add(now, lane.last, Kind::slots);
      }
    } else {
      lane.before = trigger == Trigger::dependency ? mark : lane.last;
    }
  }

  void finish_slice(int index) {
    SimulatedLane& lane = lanes_[index];
    const TrafficStep* const step = lane.step;
    const Mark mark = path_.add(queue_.now(), lane.before, lane.kind, lane.id);
    lane.last = mark;
    lane.busy = false;
    if (recorder_ != nullptr) recorder_->end_slice(index, lane, slice_bytes(lane), queue_.now());
    for (const int port : traffic_.recv_ports(*step)) ++connections_[lane.ports[port]].num_read;
    if (step->num_send > 0) {
      const auto bytes = static_cast<int32_t>(placed_.protocol.wire_bytes(slice_bytes(lane)));
      for (const int port : traffic_.send_ports(*step)) send(lane.ports[port], bytes, mark);
    }
    advance(index);
    try_slice(index, Trigger::own, mark);
    const int of = graph_.lanes[index].lane;
    for (int i = traffic_.lane_first_dependent[of]; i < traffic_.lane_first_dependent[of + 1]; ++i)
      try_slice(graph_.fellows(index)[traffic_.dependents[i]], Trigger::dependency, mark);
    for (const int port : traffic_.recv_ports(*step)) {
      SimulatedConnection& connection = connections_[lane.ports[port]];
      if (!connection.sender_waits) continue;
      connection.sender_waits = false;
      try_slice(connection.sender, Trigger::slot, mark);
    }
  }

  // --- connections

  void send(int id, int32_t bytes, Mark mark) {
    SimulatedConnection& connection = connections_[id];
    message(id, connection.num_sent++).bytes = bytes;
    connection.bytes_sent += bytes;
    if (!connection.crossing) begin_crossing(id, mark);
  }

  /// The next message of a connection begins to cross. If the connection still has a share from the message before, it
  /// keeps it.
  void begin_crossing(int id, Mark before) {
    SimulatedConnection& connection = connections_[id];
    connection.crossing = true;
    connection.before = before;
    if (recorder_ != nullptr) recorder_->begin_crossing(id, queue_.now());
    connection.left = static_cast<double>(message(id, connection.num_crossed).bytes);
    connection.since = queue_.now();
    if (connection.rate == 0) sharing_.start(id);
    if (connection.left == 0 || connection.rate > 0) schedule_end(id);
  }

  static uint32_t end_of(int id) { return static_cast<uint32_t>(id) << 1 | 1; }

  void schedule_end(int id) {
    SimulatedConnection& connection = connections_[id];
    // Ends are at whole ticks, so that less than nothing may be left where a rate changes just then.
    const double seconds = connection.left <= 0 ? 0 : connection.left / connection.rate;
    queue_.push({queue_.now() + ticks_of(seconds), end_of(id), ++connection.stamp});
  }

  void finish_crossing(int id) {
    SimulatedConnection& connection = connections_[id];
    take_passed(id);
    // Ends are at whole ticks: what that leaves or takes too much is less than a tick's share.
    SimulatedMessage& done = message(id, connection.num_crossed);
    if (std::abs(connection.left) > connection.rate * 2 / kTicksPerSecond + 1e-9 * static_cast<double>(done.bytes))
      throw ConservationError("simulation: a message of " + std::to_string(done.bytes) + " bytes ended with " +
                              std::to_string(connection.left) + " to go (a bug)");
    const int by = done.bytes == 0 ? kCopying : sharing_.limit(id);
    const Mark mark =
        path_.add(queue_.now(), connection.before, by == kCopying ? Kind::copy : Kind::link, std::max(by, 0));
    done.crossed = mark;
    done.arrival = queue_.now() + connection.latency;
    if (recorder_ != nullptr) recorder_->end_crossing(id, queue_.now(), done.arrival, by);
    ++connection.num_crossed;
    connection.crossing = false;
    if (connection.num_crossed < connection.num_sent) {
      begin_crossing(id, mark);
    } else if (!connection.may_stop) {
      connection.may_stop = true;
      may_stop_.push_back(id);
    }
    try_slice(connection.receiver, Trigger::message, mark);
  }

  void take_passed(int id) {
    SimulatedConnection& connection = connections_[id];
    if (std::isinf(connection.rate)) connection.left = 0;  // nothing limits it
    if (queue_.now() == connection.since) return;
    connection.left -= connection.rate * static_cast<double>(queue_.now() - connection.since) / kTicksPerSecond;
    connection.since = queue_.now();
  }

  /// After all events of a time: what has nothing left to send gives up its share.
  void share() {
    for (const int id : may_stop_) {
      connections_[id].may_stop = false;
      if (connections_[id].crossing) continue;
      sharing_.stop(id);
      connections_[id].rate = 0;
    }
    may_stop_.clear();
    for (const int id : sharing_.settle(queue_.now())) {
      SimulatedConnection& connection = connections_[id];
      if (!connection.crossing) continue;
      take_passed(id);
      connection.rate = sharing_.rate(id);
      schedule_end(id);
    }
  }

  void check_finished() const {
    for (size_t i = 0; i < lanes_.size(); ++i)
      if (!finished(lanes_[i]))
        throw UsageError(traffic_.shape.name + " cannot be simulated: " + traffic_.shape.called(graph_.lanes[i].rank) +
                         ", lane " + std::to_string(traffic_.number(graph_.lanes[i].lane)) +
                         " waits for ever; verify the schedule to learn why");
  }

  void check_links() {
    for (int link = 0; link < static_cast<int>(graph_.link_rate.size()); ++link) {
      double carried = sharing_.carried(link, queue_.now()), sent = 0;
      for (const Crossing& one : graph_.crossing(link))
        sent += one.weight * static_cast<double>(connections_[one.connection].bytes_sent);
      const double rounding = graph_.link_rate[link] / kTicksPerSecond * static_cast<double>(num_events_ + 1);
      if (std::abs(carried - sent) > 1e-6 * sent + rounding)
        throw ConservationError("simulation: link " + std::to_string(link) + " carried " + std::to_string(carried) +
                                " bytes, but " + std::to_string(sent) + " were sent over it (a bug)");
    }
  }

  const PlacedTraffic& placed_;
  const Traffic& traffic_;
  const FlowGraph& graph_;
  Recorder* const recorder_;
  const uint32_t slots_;
  MaxMin sharing_;
  CriticalPath path_;
  EventQueue queue_;
  std::vector<SimulatedLane> lanes_;
  std::vector<SimulatedConnection> connections_;
  std::vector<SimulatedMessage> messages_;  // `slots_` a connection
  std::vector<int> may_stop_;
  int64_t num_events_ = 0;
};

}  // namespace

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
