// See simulate.h. An event is a slice that is done or a message that has crossed. All events of one time are handled
// before rates are shared anew, so their order does not matter.
#include "core/simulate/simulate.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/simulate/event_queue.h"

namespace ringtree {
namespace {

using Kind = CriticalPath::Kind;

struct SimulatedLane {
  size_t pass = 0;
  int step = 0;  // next slice to do: of the step'th of the lane
  bool busy = false;
  int32_t slice = 0, num_slices = 0;
  size_t step_bytes = 0;
  Mark last = 0;    // the slice before, or the launch
  Mark before = 0;  // of the slice that it is busy with: what it waited for last
  Kind kind = Kind::launch;
  int id = 0;
};

struct SimulatedConnection {
  int64_t num_sent = 0, num_crossed = 0, num_read = 0;  // messages
  double left = 0, rate = 0;                            // bytes of the one that crosses, and per second
  Ticks since = 0;                                      // when that was so
  Mark before = 0;                                      // what that one waited for
  uint32_t stamp = 0;                                   // of its end, unless rates change first
  bool crossing = false, may_stop = false;
};

/// A message in its slot.
struct SimulatedMessage {
  int64_t bytes = 0;  // on the wire
  Mark sent = 0;      // the slice that sent it
  Mark crossed = 0;
};

class Simulation {
 public:
  Simulation(const PlacedTraffic& placed, const FlowGraph& graph, SharingFault fault)
      : placed_(placed),
        traffic_(placed.traffic),
        graph_(graph),
        slots_(placed.protocol.slots),
        sharing_(graph, fault),
        path_(graph),
        lanes_(graph.lanes.size()),
        connections_(graph.connections.size()),
        messages_(graph.connections.size() * static_cast<size_t>(slots_)),
        link_bytes_(graph.link_rate.size()) {}

  void run() {
    const Ticks launch = ticks_of(placed_.network.launch_cost);
    const Mark start = path_.add(launch, 0, Kind::launch);
    queue_.push({launch, kStart, 0});
    while (!queue_.empty()) {
      do {
        handle(queue_.pop(), start);
      } while (queue_.more_now());
      share();
    }
    check_finished();
    check_links();
  }

  const CriticalPath& path() const { return path_; }
  Mark last_mark(int lane) const { return lanes_[lane].last; }
  int64_t num_events() const { return num_events_; }
  int64_t link_bytes(int link) const { return link_bytes_[link]; }
  double link_busy(int link) { return static_cast<double>(sharing_.busy(link, queue_.now())) / kTicksPerSecond; }

 private:
  static constexpr uint32_t kStart = ~uint32_t{0};

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
  int first_step(int lane) const { return traffic_.lane_first_step[graph_.lanes[lane].lane]; }
  int num_steps(int lane) const { return traffic_.lane_first_step[graph_.lanes[lane].lane + 1] - first_step(lane); }
  const TrafficStep* step_of(int lane) const { return &traffic_.steps[first_step(lane) + lanes_[lane].step]; }

  /// False if the step has nothing to do in this pass: it is done when the lane comes to it.
  bool begin_step(int index) {
    SimulatedLane& lane = lanes_[index];
    lane.slice = 0;
    lane.step_bytes = placed_.bytes_in_pass(*step_of(index), graph_.lanes[index].channel, lane.pass);
    lane.num_slices = static_cast<int32_t>(num_slices(lane.step_bytes, placed_.cut.slice_bytes));
    return lane.step_bytes > 0 || lane.pass == 0;
  }

  void advance(int index) {
    SimulatedLane& lane = lanes_[index];
    if (++lane.slice < lane.num_slices) return;
    do {
      if (++lane.step == num_steps(index)) lane.step = 0, ++lane.pass;
    } while (!finished(lane) && !begin_step(index));
  }

  bool met(const TrafficWait& wait, int index) const {
    const SimulatedLane& lane = lanes_[index];
    if (wait.previous_pass && lane.pass == 0) return true;
    const SimulatedLane& other = lanes_[graph_.fellows(index)[wait.lane]];
    const size_t pass = lane.pass - (wait.previous_pass ? 1 : 0);
    if (other.pass != pass) return other.pass > pass;
    if (other.step != wait.step) return other.step > wait.step;
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
    const TrafficStep *step = step_of(index), *behind = step + 1;
    const auto ports = graph_.ports(index);
    Ticks arrived = 0;
    int awaited = -1;
    for (int i = step->first_recv; i < behind->first_recv; ++i) {
      const int id = ports[traffic_.recv_ports[i]];
      const SimulatedConnection& connection = connections_[id];
      if (connection.num_crossed == connection.num_read) return;
      const Ticks arrival = path_.at(message(id, connection.num_read).crossed) + graph_.connections[id].latency;
      if (awaited < 0 || arrival > arrived) arrived = arrival, awaited = id;
    }
    for (int i = step->first_send; i < behind->first_send; ++i) {
      const SimulatedConnection& connection = connections_[ports[traffic_.send_ports[i]]];
      if (connection.num_sent - connection.num_read >= slots_) return;
    }
    for (int i = step->first_wait; i < behind->first_wait; ++i)
      if (!met(traffic_.waits[i], index)) return;
    lane.busy = true;
    const Ticks now = queue_.now(), begin = std::max(now, arrived);
    const double bytes = static_cast<double>(slice_bytes(lane));
    double work = step->num_folds * bytes / graph_.lanes[index].reduce_rate;
    if (step->copies) work = bytes / graph_.lanes[index].copy_rate;
    blame(lane, step->num_folds > 0, awaited, arrived, trigger, mark);
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
    const TrafficStep *step = step_of(index), *behind = step + 1;
    const auto ports = graph_.ports(index);
    lane.last = path_.add(queue_.now(), lane.before, lane.kind, lane.id);
    lane.busy = false;
    for (int i = step->first_recv; i < behind->first_recv; ++i) ++connections_[ports[traffic_.recv_ports[i]]].num_read;
    if (step->first_send < behind->first_send) {
      const int64_t bytes = placed_.protocol.wire_bytes(slice_bytes(lane));
      for (int i = step->first_send; i < behind->first_send; ++i) send(ports[traffic_.send_ports[i]], bytes, lane.last);
    }
    const Mark mark = lane.last;
    advance(index);
    try_slice(index, Trigger::own, mark);
    const int of = graph_.lanes[index].lane;
    for (int i = traffic_.lane_first_dependent[of]; i < traffic_.lane_first_dependent[of + 1]; ++i)
      try_slice(graph_.fellows(index)[traffic_.dependents[i]], Trigger::dependency, mark);
    for (int i = step->first_recv; i < behind->first_recv; ++i)
      try_slice(graph_.connections[ports[traffic_.recv_ports[i]]].sender, Trigger::slot, mark);
  }

  // --- connections

  void send(int id, int64_t bytes, Mark mark) {
    SimulatedConnection& connection = connections_[id];
    message(id, connection.num_sent++) = {bytes, mark, 0};
    for (const RouteLink& on : graph_.route(id)) link_bytes_[on.link] += std::llround(on.weight) * bytes;
    if (!connection.crossing) begin_crossing(id, mark);
  }

  /// The next message of a connection begins to cross. If the connection still has a share from the message before, it
  /// keeps it.
  void begin_crossing(int id, Mark before) {
    SimulatedConnection& connection = connections_[id];
    connection.crossing = true;
    connection.before = before;
    connection.left = static_cast<double>(message(id, connection.num_crossed).bytes);
    connection.since = queue_.now();
    connection.rate = sharing_.rate(id);
    if (!sharing_.active(id)) sharing_.start(id);
    if (connection.left == 0 || connection.rate > 0) schedule_end(id);
  }

  static uint32_t end_of(int id) { return static_cast<uint32_t>(id) << 1 | 1; }

  void schedule_end(int id) {
    SimulatedConnection& connection = connections_[id];
    const double seconds = connection.left == 0 ? 0 : connection.left / connection.rate;
    queue_.push({queue_.now() + ticks_of(seconds), end_of(id), ++connection.stamp});
  }

  void finish_crossing(int id) {
    SimulatedConnection& connection = connections_[id];
    take_passed(id);
    // Ends are at whole ticks: what that leaves or takes too much is less than a tick's share.
    const SimulatedMessage& done = message(id, connection.num_crossed);
    if (std::abs(connection.left) > connection.rate * 2 / kTicksPerSecond + 1e-9 * static_cast<double>(done.bytes))
      throw ConservationError("simulation: a message of " + std::to_string(done.bytes) + " bytes ended with " +
                              std::to_string(connection.left) + " to go (a bug)");
    const int by = done.bytes == 0 ? kCopying : sharing_.limit(id);
    const Mark mark =
        path_.add(queue_.now(), connection.before, by == kCopying ? Kind::copy : Kind::link, std::max(by, 0));
    message(id, connection.num_crossed++).crossed = mark;
    connection.crossing = false;
    if (connection.num_crossed < connection.num_sent) {
      begin_crossing(id, mark);
    } else if (!connection.may_stop) {
      connection.may_stop = true;
      may_stop_.push_back(id);
    }
    try_slice(graph_.connections[id].receiver, Trigger::message, mark);
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
      if (!connections_[id].crossing) sharing_.stop(id);
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

  // --- checks

  void check_finished() const {
    for (size_t i = 0; i < lanes_.size(); ++i)
      if (!finished(lanes_[i]))
        throw UsageError(traffic_.shape.name + " cannot be simulated: rank " + std::to_string(graph_.lanes[i].rank) +
                         ", lane " + std::to_string(traffic_.number(graph_.lanes[i].lane)) +
                         " waits for ever; verify the schedule to learn why");
  }

  void check_links() {
    for (int link = 0; link < static_cast<int>(link_bytes_.size()); ++link) {
      const double sent = static_cast<double>(link_bytes_[link]), carried = sharing_.carried(link, queue_.now());
      const double rounding = graph_.link_rate[link] / kTicksPerSecond * static_cast<double>(num_events_ + 1);
      if (std::abs(carried - sent) > 1e-6 * sent + rounding)
        throw ConservationError("simulation: link " + std::to_string(link) + " carried " + std::to_string(carried) +
                                " bytes, but " + std::to_string(sent) + " were sent over it (a bug)");
    }
  }

  const PlacedTraffic& placed_;
  const Traffic& traffic_;
  const FlowGraph& graph_;
  const int slots_;
  MaxMin sharing_;
  CriticalPath path_;
  EventQueue queue_;
  std::vector<SimulatedLane> lanes_;
  std::vector<SimulatedConnection> connections_;
  std::vector<SimulatedMessage> messages_;  // `slots_` a connection
  std::vector<int64_t> link_bytes_;
  std::vector<int> may_stop_;
  int64_t num_events_ = 0;
};

}  // namespace

Simulated simulate(const Traffic& traffic, const CallSize& size, const Network& network, const WireProtocol& protocol,
                   const SimulateOptions& options) {
  const PlacedTraffic placed(traffic, size, network, protocol);
  const Classes classes = options.use_symmetry ? find_classes(placed) : distinct(placed);
  const FlowGraph graph(placed, classes);
  Simulation simulation(placed, graph, options.fault);
  simulation.run();
  Simulated out;
  out.num_events = simulation.num_events();
  out.num_lanes = static_cast<int>(graph.lanes.size());
  out.rank_seconds.assign(static_cast<size_t>(traffic.shape.num_ranks), network.launch_cost);
  Mark last = 0;
  for (int id = 0; id < placed.num_lanes(); ++id) {
    const Mark mark = simulation.last_mark(classes.of_lane[id]);
    const double seconds = static_cast<double>(simulation.path().at(mark)) / kTicksPerSecond;
    double& rank_seconds = out.rank_seconds[traffic.lane_rank[id % traffic.num_lanes()]];
    rank_seconds = std::max(rank_seconds, seconds);
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
