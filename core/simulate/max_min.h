// Max-min fair shares of links: no flow can get more without taking from one that has no more than it. That is so
// exactly if each active flow has a bottleneck: its cap, or a full link on which no other has more.
//
// Incremental. When flows start or stop, those that share a link with them are solved again by progressive
// filling, all others held fixed; then the others on the links that this touched are looked at, and those whose
// bottleneck does not hold any more join, until none does. What is left has bottlenecks that still hold, so the whole
// is max-min fair, though most of a large component was not looked at.
//
// Checked always: no link above its rate, every solved flow with a bottleneck, and what a link carried, summed up
// over time, equal to the bytes that were sent over it. ConservationError says which failed: a bug of ours.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/simulate/flow_graph.h"

namespace ringtree {

struct ConservationError : std::logic_error {
  using std::logic_error::logic_error;
};

/// What is wrong on purpose, in tests of the checks.
struct SharingFault {
  double of_rates = 1;    // factor on all shares
  double of_carried = 1;  // factor on what links are said to have carried
};

class MaxMin {
 public:
  explicit MaxMin(const FlowGraph& graph, SharingFault fault = {});

  double rate(int flow) const { return flows_[static_cast<size_t>(flow)].rate; }
  /// The link that limits an active flow, or kCopying.
  int limit(int flow) const { return flows_[static_cast<size_t>(flow)].limit; }

  /// Rates change with the next settle() only.
  void start(int flow) { set_active(flow, true); }
  void stop(int flow) { set_active(flow, false); }

  /// Shares anew after starts and stops; the flows whose rates are new, each once.
  const std::vector<int>& settle(Ticks now);

  /// Of a link, until `now`: bytes that it carried, and time in which something crossed it.
  double carried(int link, Ticks now);
  Ticks busy(int link, Ticks now);

 private:
  struct LinkState {
    double load = 0, carried = 0;
    Ticks since = 0, busy = 0;
    int num_active = 0;
    // While a region is solved:
    bool touched = false, full = false;
    double fixed = 0, left = 0, open = 0, level = 0, most = 0;
  };

  struct FlowState {
    double rate = 0, new_rate = 0;
    int limit = kCopying;
    bool active = false, is_dirty = false, in_region = false, frozen = false;
  };

  void set_active(int flow, bool active);
  void touch(int link);
  void join(int flow);
  void fill();
  bool extend();
  void check_region() const;
  void apply(Ticks now);
  void change(int flow, double to, Ticks now);
  void bring_up(LinkState& link, Ticks now) const;

  const FlowGraph& graph_;
  SharingFault fault_;
  std::vector<LinkState> links_;
  std::vector<FlowState> flows_;
  std::vector<int> dirty_, touched_links_, region_, new_rates_;
};

}  // namespace ringtree
