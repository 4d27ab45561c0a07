// Simulation: the events of one call, from the launch to the last slice. An event is a slice that is done, or a message
// that has crossed or was read. All events of one time are handled before rates are shared anew, so their order does
// not matter.
//
// For: simulate.cpp. Not for: what lanes are alike (classes.h), how links are shared (max_min.h), the figures of a rank
// or a link (simulate.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/simulate/critical_path.h"
#include "core/simulate/event_queue.h"
#include "core/simulate/flow_graph.h"
#include "core/simulate/max_min.h"
#include "core/simulate/placed_traffic.h"
#include "core/simulate/recording.h"
#include "core/simulate/simulated_state.h"

namespace ringtree {

class Simulation {
 public:
  /// `recorder`: may be null.
  Simulation(const PlacedTraffic& placed, const FlowGraph& graph, SharingFault fault, Recorder* recorder);

  void run();

  const CriticalPath& path() const { return path_; }
  Mark last_mark(int lane) const { return lanes_[lane].last; }
  int64_t num_events() const { return num_events_; }
  /// Of the messages that were sent over a link, whatever it is said to have carried.
  int64_t link_bytes(int link) const;
  double link_busy(int link) { return static_cast<double>(sharing_.busy(link, queue_.now())) / kTicksPerSecond; }

 private:
  using Kind = CriticalPath::Kind;
  static constexpr uint32_t kStart = ~uint32_t{0};
  static constexpr size_t kLookAhead = 6;

  void fetch(const SimulatedEvent& event) const;

  enum class Trigger : uint8_t { own, message, slot, dependency };

  void handle(const SimulatedEvent& event, Mark start);

  // --- lanes

  bool finished(const SimulatedLane& lane) const { return lane.pass >= placed_.cut.num_passes; }
  const TrafficStep* step_at(int lane, int step) const {
    return &traffic_.steps[traffic_.lane_first_step[graph_.lanes[lane].lane] + step];
  }
  std::span<const TrafficWait> waits(const TrafficStep* step) const {
    return std::span(traffic_.waits).subspan(step->first_wait, step->num_waits);
  }

  int num_steps(int lane) const;

  /// False if the step has nothing to do in this pass: it is done when the lane comes to it.
  bool begin_step(int index);

  void advance(int index);

  bool met(const TrafficWait& wait, int index) const;

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
  void try_slice(int index, Trigger trigger, Mark mark);

  /// Notes what the slice that the lane begins waited for last.
  void blame(SimulatedLane& lane, bool folds, int awaited, Ticks arrived, Trigger trigger, Mark mark);

  void finish_slice(int index);

  /// The lane's slice begins to read what has arrived, where that takes a core.
  void begin_reading(int index);
  void finish_reading(int id);
  /// It has read `num_read` messages: it folds what no core has folded, or copies.
  void begin_work(int index, Ticks begin, int num_read);

  // --- flows

  void send(int id, int32_t bytes, Mark mark);

  /// The next message of a connection begins to cross.
  void begin_crossing(int id, Mark before);

  /// Bytes begin to flow. If the flow still has a share from the message before, it keeps it.
  void begin_flow(int id, int32_t bytes, Mark before);

  static uint32_t end_of(int id) { return static_cast<uint32_t>(id) << 1 | 1; }

  void schedule_end(int id);

  void finish_crossing(int id);

  /// Throws ConservationError if more of `bytes` is left than rounding. Returns a mark of what limited the flow.
  Mark finish_flow(int id, int32_t bytes);

  /// What limits a flow that carries so many bytes: a link of the graph, or kCopying.
  int limit_of(int id, int32_t bytes) const { return bytes == 0 ? kCopying : sharing_.limit(id); }

  /// A flow without a next message may give up its share, once all events of this time are handled.
  void let_stop(int id);

  void take_passed(int id);

  bool is_reading(int id) const { return static_cast<size_t>(id) >= graph_.connections.size(); }
  int64_t bytes_of(const Crossing& one) const { return flows_[graph_.flows[one.flow].connection].bytes_sent; }

  /// After all events of a time: what has nothing left to send gives up its share.
  void share();

  void check_finished() const;

  void check_links();

  const PlacedTraffic& placed_;
  const Traffic& traffic_;
  const FlowGraph& graph_;
  Recorder* const recorder_;
  const uint32_t slots_;
  MaxMin sharing_;
  CriticalPath path_;
  EventQueue queue_;
  std::vector<SimulatedLane> lanes_;
  std::vector<SimulatedFlow> flows_;
  std::vector<SimulatedMessage> messages_;  // `slots_` a connection
  std::vector<int> may_stop_;
  int64_t num_events_ = 0, num_reads_ = 0;
};

}  // namespace ringtree
