// See simulation.h. In one file, as a slice or a message is a few dozen instructions: calls between files would show.
#include "core/simulate/simulation.h"

#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/base/prefetch.h"

namespace ringtree {

Simulation::Simulation(const PlacedTraffic& placed, const FlowGraph& graph, SharingFault fault, Recorder* recorder)
    : placed_(placed),
      traffic_(placed.traffic),
      graph_(graph),
      recorder_(recorder),
      slots_(static_cast<uint32_t>(placed.protocol.slots)),
      sharing_(graph, fault),
      path_(graph),
      lanes_(graph.lanes.size()),
      flows_(graph.flows.size()),
      messages_(graph.connections.size() * static_cast<size_t>(slots_)) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const GraphLane& of = graph.lanes[i];
    lanes_[i].step = &traffic_.steps[traffic_.lane_first_step[of.lane]];
    lanes_[i].ports = graph.ports(static_cast<int>(i)).data();
    lanes_[i].copy_rate = of.copy_rate;
    lanes_[i].reduce_rate = of.reduce_rate;
    lanes_[i].fold_seconds = of.fold_seconds;
  }
  for (size_t i = 0; i < flows_.size(); ++i) {
    const GraphConnection& of = graph.connections[graph.flows[i].connection];
    flows_[i].sender = of.sender;
    flows_[i].receiver = of.receiver;
    flows_[i].latency = of.latency;
    flows_[i].reading = of.reading;
  }
}

void Simulation::run() {
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

int64_t Simulation::link_bytes(int link) const {
  int64_t bytes = 0;
  for (const Crossing& one : graph_.crossing(link)) bytes += one.count * bytes_of(one);
  return bytes;
}

void Simulation::fetch(const SimulatedEvent& event) const {
  const size_t index = event.what >> 1;
  if ((event.what & 1) == 0) {
    fetch_whole(lanes_[index]);
  } else {
    fetch_whole(flows_[index]);
    if (is_reading(static_cast<int>(index))) return;
    fetch_for_writing(&messages_[index * slots_]);
    fetch_for_writing(&messages_[index * slots_ + slots_ / 2]);
  }
}

void Simulation::handle(const SimulatedEvent& event, Mark start) {
  if (event.what == kStart) {
    for (SimulatedLane& lane : lanes_) lane.last = start;
    for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) begin_step(lane);
    for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) try_slice(lane, Trigger::own, start);
    return;
  }
  const int index = static_cast<int>(event.what >> 1);
  if ((event.what & 1) == 0) {
    if (lanes_[index].phase == SimulatedLane::Phase::awaits_arrival) return begin_reading(index);
    ++num_events_;
    finish_slice(index);
  } else if (flows_[index].stamp == event.stamp) {
    if (is_reading(index)) return finish_reading(index);
    ++num_events_;
    finish_crossing(index);
  }
}

int Simulation::num_steps(int lane) const {
  const int of = graph_.lanes[lane].lane;
  return traffic_.lane_first_step[of + 1] - traffic_.lane_first_step[of];
}

bool Simulation::begin_step(int index) {
  SimulatedLane& lane = lanes_[index];
  lane.slice = 0;
  lane.step_bytes = placed_.bytes_in_pass(*lane.step, graph_.lanes[index].channel, lane.pass);
  lane.num_slices = static_cast<int32_t>(num_slices(lane.step_bytes, placed_.cut.slice_bytes));
  return lane.step_bytes > 0 || lane.pass == 0;
}

void Simulation::advance(int index) {
  SimulatedLane& lane = lanes_[index];
  if (++lane.slice < lane.num_slices) return;
  do {
    if (++lane.step == step_at(index, 0) + num_steps(index)) {
      lane.step = step_at(index, 0);
      ++lane.pass;
    }
  } while (!finished(lane) && !begin_step(index));
}

bool Simulation::met(const TrafficWait& wait, int index) const {
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

void Simulation::try_slice(int index, Trigger trigger, Mark mark) {
  SimulatedLane& lane = lanes_[index];
  if (lane.phase != SimulatedLane::Phase::idle || finished(lane)) return;
  Ticks arrived = 0;
  int awaited = -1;
  bool reads = false;
  for (const int port : traffic_.recv_ports(*lane.step)) {
    const int id = lane.ports[port];
    const SimulatedFlow& connection = flows_[id];
    if (connection.num_crossed == connection.num_read) return;
    const Ticks arrival = message(id, connection.num_read).arrival;
    if (awaited < 0 || arrival > arrived) arrived = arrival, awaited = id;
    reads |= connection.reading != kNoFlow;
  }
  for (const int port : traffic_.send_ports(*lane.step)) {
    SimulatedFlow& connection = flows_[lane.ports[port]];
    if (connection.num_sent - connection.num_read < slots_) continue;
    connection.sender_waits = true;
    return;
  }
  for (const TrafficWait& wait : waits(lane.step))
    if (!met(wait, index)) return;
  const Ticks begin = std::max(queue_.now(), arrived);
  blame(lane, !reads && lane.step->num_folds > 0, awaited, arrived, trigger, mark);
  if (recorder_ != nullptr) recorder_->begin_slice(index, begin);
  if (!reads) return begin_work(index, begin, 0);
  lane.phase = SimulatedLane::Phase::awaits_arrival;
  if (begin == queue_.now()) return begin_reading(index);
  queue_.push({begin, static_cast<uint32_t>(index) << 1, 0});
}

void Simulation::begin_reading(int index) {
  SimulatedLane& lane = lanes_[index];
  lane.phase = SimulatedLane::Phase::reads;
  lane.before = path_.add(queue_.now(), lane.before, lane.kind, lane.id);
  for (const int port : traffic_.recv_ports(*lane.step)) {
    const int id = lane.ports[port];
    const SimulatedFlow& connection = flows_[id];
    if (connection.reading == kNoFlow) continue;
    ++lane.num_reading;
    begin_flow(connection.reading, message(id, connection.num_read).bytes, lane.before);
  }
}

void Simulation::finish_reading(int id) {
  const int connection = graph_.flows[id].connection;
  SimulatedLane& lane = lanes_[flows_[id].receiver];
  ++num_reads_;
  const int32_t bytes = message(connection, flows_[connection].num_read).bytes;
  const Mark mark = finish_flow(id, bytes);
  if (recorder_ != nullptr) recorder_->end_reading(connection, queue_.now(), limit_of(id, bytes));
  let_stop(id);
  if (--lane.num_reading > 0) return;
  lane.before = mark;
  lane.kind = lane.step->num_folds > 0 ? Kind::reduce : Kind::copy;
  lane.id = 0;
  const auto ports = traffic_.recv_ports(*lane.step);
  const auto num_read =
      std::count_if(ports.begin(), ports.end(), [&](int port) { return flows_[lane.ports[port]].reading != kNoFlow; });
  begin_work(flows_[id].receiver, queue_.now(), static_cast<int>(num_read));
}

void Simulation::begin_work(int index, Ticks begin, int num_read) {
  SimulatedLane& lane = lanes_[index];
  lane.phase = SimulatedLane::Phase::works;
  const double bytes = static_cast<double>(slice_bytes(lane));
  double work = 0;
  if (lane.step->num_folds > 0) work = lane.step->num_folds * bytes / lane.reduce_rate;
  if (num_read > 0) work *= 1 - static_cast<double>(num_read) / lane.step->num_recv;
  if (lane.step->num_folds > 0 && lane.step->num_recv == 0) work += bytes * lane.fold_seconds;
  if (lane.step->copies) work = bytes / lane.copy_rate;
  queue_.push({begin + ticks_of(work), static_cast<uint32_t>(index) << 1, 0});
}

void Simulation::blame(SimulatedLane& lane, bool folds, int awaited, Ticks arrived, Trigger trigger, Mark mark) {
  const Ticks now = queue_.now();
  const auto arrival_of = [&](int id) { return message(id, flows_[id].num_read).crossed; };
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

void Simulation::finish_slice(int index) {
  SimulatedLane& lane = lanes_[index];
  const TrafficStep* const step = lane.step;
  const Mark mark = path_.add(queue_.now(), lane.before, lane.kind, lane.id);
  lane.last = mark;
  lane.phase = SimulatedLane::Phase::idle;
  if (recorder_ != nullptr) recorder_->end_slice(index, lane, slice_bytes(lane), queue_.now());
  for (const int port : traffic_.recv_ports(*step)) ++flows_[lane.ports[port]].num_read;
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
    SimulatedFlow& connection = flows_[lane.ports[port]];
    if (!connection.sender_waits) continue;
    connection.sender_waits = false;
    try_slice(connection.sender, Trigger::slot, mark);
  }
}

void Simulation::send(int id, int32_t bytes, Mark mark) {
  SimulatedFlow& connection = flows_[id];
  message(id, connection.num_sent++).bytes = bytes;
  connection.bytes_sent += bytes;
  if (!connection.under_way) begin_crossing(id, mark);
}

void Simulation::begin_crossing(int id, Mark before) {
  if (recorder_ != nullptr) recorder_->begin_crossing(id, queue_.now());
  begin_flow(id, message(id, flows_[id].num_crossed).bytes, before);
}

void Simulation::begin_flow(int id, int32_t bytes, Mark before) {
  SimulatedFlow& flow = flows_[id];
  flow.under_way = true;
  flow.before = before;
  flow.left = static_cast<double>(bytes);
  flow.since = queue_.now();
  if (flow.rate == 0) sharing_.start(id);
  if (flow.left == 0 || flow.rate > 0) schedule_end(id);
}

void Simulation::schedule_end(int id) {
  SimulatedFlow& connection = flows_[id];
  // Ends are at whole ticks, so that less than nothing may be left where a rate changes just then.
  const double seconds = connection.left <= 0 ? 0 : connection.left / connection.rate;
  queue_.push({queue_.now() + ticks_of(seconds), end_of(id), ++connection.stamp});
}

void Simulation::finish_crossing(int id) {
  SimulatedFlow& connection = flows_[id];
  SimulatedMessage& done = message(id, connection.num_crossed);
  const Mark mark = finish_flow(id, done.bytes);
  done.crossed = mark;
  done.arrival = queue_.now() + connection.latency;
  if (recorder_ != nullptr) recorder_->end_crossing(id, queue_.now(), done.arrival, limit_of(id, done.bytes));
  ++connection.num_crossed;
  if (connection.num_crossed < connection.num_sent) {
    begin_crossing(id, mark);
  } else {
    let_stop(id);
  }
  try_slice(connection.receiver, Trigger::message, mark);
}

Mark Simulation::finish_flow(int id, int32_t bytes) {
  SimulatedFlow& flow = flows_[id];
  take_passed(id);
  // Ends are at whole ticks: what that leaves or takes too much is less than a tick's share.
  if (std::abs(flow.left) > flow.rate * 2 / kTicksPerSecond + 1e-9 * static_cast<double>(bytes))
    throw ConservationError("simulation: a message of " + std::to_string(bytes) + " bytes ended with " +
                            std::to_string(flow.left) + " to go (a bug)");
  flow.under_way = false;
  const int by = limit_of(id, bytes);
  return path_.add(queue_.now(), flow.before, by == kCopying ? Kind::copy : Kind::link, std::max(by, 0));
}

void Simulation::let_stop(int id) {
  if (flows_[id].may_stop) return;
  flows_[id].may_stop = true;
  may_stop_.push_back(id);
}

void Simulation::take_passed(int id) {
  SimulatedFlow& connection = flows_[id];
  if (std::isinf(connection.rate)) connection.left = 0;  // nothing limits it
  if (queue_.now() == connection.since) return;
  connection.left -= connection.rate * static_cast<double>(queue_.now() - connection.since) / kTicksPerSecond;
  connection.since = queue_.now();
}

void Simulation::share() {
  for (const int id : may_stop_) {
    flows_[id].may_stop = false;
    if (flows_[id].under_way) continue;
    sharing_.stop(id);
    flows_[id].rate = 0;
  }
  may_stop_.clear();
  for (const int id : sharing_.settle(queue_.now())) {
    SimulatedFlow& connection = flows_[id];
    if (!connection.under_way) continue;
    take_passed(id);
    connection.rate = sharing_.rate(id);
    schedule_end(id);
  }
}

void Simulation::check_finished() const {
  for (size_t i = 0; i < lanes_.size(); ++i)
    if (!finished(lanes_[i]))
      throw UsageError(traffic_.shape.name + " cannot be simulated: " + traffic_.shape.called(graph_.lanes[i].rank) +
                       ", lane " + std::to_string(traffic_.number(graph_.lanes[i].lane)) +
                       " waits forever; verify the schedule to find out why");
}

void Simulation::check_links() {
  for (int link = 0; link < static_cast<int>(graph_.link_rate.size()); ++link) {
    double carried = sharing_.carried(link, queue_.now()), sent = 0;
    for (const Crossing& one : graph_.crossing(link)) sent += one.weight * static_cast<double>(bytes_of(one));
    const double rounding =
        graph_.link_rate[link] / kTicksPerSecond * static_cast<double>(num_events_ + num_reads_ + 1);
    if (std::abs(carried - sent) > 1e-6 * sent + rounding)
      throw ConservationError("simulation: link " + std::to_string(link) + " carried " + std::to_string(carried) +
                              " bytes, but " + std::to_string(sent) + " were sent over it (a bug)");
  }
}

}  // namespace ringtree
