// See max_min.h.
#include "core/simulate/max_min.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ringtree {
namespace {

constexpr double kAlmost = 1e-9;  // of a rate: less is rounding
constexpr double kOpen = 1e-6;    // of weights: less is rounding

bool about(double value, double wanted) { return std::abs(value - wanted) <= kAlmost * wanted; }

}  // namespace

MaxMin::MaxMin(const FlowGraph& graph, SharingFault fault)
    : graph_(graph), fault_(fault), links_(graph.link_rate.size()), flows_(graph.flows.size()) {}

void MaxMin::set_active(int flow, bool active) {
  FlowState& state = flows_[flow];
  state.active = active;
  if (!state.is_dirty) dirty_.push_back(flow);
  state.is_dirty = true;
}

void MaxMin::touch(int link) {
  LinkState& state = links_[link];
  if (state.touched) return;
  state.touched = true;
  touched_links_.push_back(link);
}

void MaxMin::join(int flow) {
  if (flows_[flow].in_region || !flows_[flow].active) return;
  flows_[flow].in_region = true;
  region_.push_back(flow);
  for (const RouteLink& on : graph_.shared_route(flow)) touch(on.link);
}

const std::vector<int>& MaxMin::settle(Ticks now) {
  new_rates_.clear();
  if (dirty_.empty()) return new_rates_;
  for (const int flow : dirty_) {
    flows_[flow].is_dirty = false;
    const bool was = flows_[flow].rate > 0;
    if (was == flows_[flow].active) continue;
    if (!was) join(flow);
    for (const RouteLink& on : graph_.shared_route(flow)) {
      touch(on.link);
      for (const Crossing& one : graph_.crossing(on.link)) join(one.flow);
    }
    if (was) change(flow, 0, now);
  }
  dirty_.clear();
  if (!region_.empty()) {
    do {
      fill();
    } while (extend());
    apply(now);
    check_region();
  }
  for (const int link : touched_links_) links_[link].touched = false;
  for (const int flow : region_) flows_[flow].in_region = false;
  touched_links_.clear();
  region_.clear();
  return new_rates_;
}

/// Progressive filling of the region: all its flows rise together until a cap or a full link stops some.
void MaxMin::fill() {
  for (const int link : touched_links_) {
    LinkState& state = links_[link];
    state.fixed = state.open = state.most = 0;
    state.full = false;
    for (const Crossing& one : graph_.crossing(link)) {
      if (!flows_[one.flow].active) continue;
      if (flows_[one.flow].in_region) {
        state.open += one.weight;
      } else {
        state.fixed += one.weight * flows_[one.flow].rate;
      }
    }
    state.left = std::max(0.0, graph_.link_rate[link] - state.fixed);
  }
  for (const int flow : region_) flows_[flow].frozen = false;
  const auto freeze = [&](int flow, double at, int by) {
    flows_[flow].frozen = true;
    flows_[flow].new_rate = at;
    flows_[flow].limit = by;
    for (const RouteLink& on : graph_.shared_route(flow)) {
      links_[on.link].left = std::max(0.0, links_[on.link].left - on.weight * at);
      links_[on.link].open -= on.weight;
    }
  };
  size_t num_frozen = 0;
  while (num_frozen < region_.size()) {
    double level = std::numeric_limits<double>::infinity();
    for (const int link : touched_links_) {
      const LinkState& state = links_[link];
      if (state.open > kOpen) level = std::min(level, state.left / state.open);
    }
    double cap = std::numeric_limits<double>::infinity();
    for (const int flow : region_)
      if (!flows_[flow].frozen) cap = std::min(cap, graph_.flows[flow].cap);
    if (cap <= level) {
      for (const int flow : region_)
        if (!flows_[flow].frozen && graph_.flows[flow].cap <= level) {
          freeze(flow, graph_.flows[flow].cap, graph_.flows[flow].cap_by);
          ++num_frozen;
        }
      continue;
    }
    for (const int link : touched_links_) {
      LinkState& state = links_[link];
      if (state.open <= kOpen || state.left / state.open > level * (1 + 1e-12)) continue;
      state.full = true;
      state.level = level;
      for (const Crossing& one : graph_.crossing(link))
        if (flows_[one.flow].active && flows_[one.flow].in_region && !flows_[one.flow].frozen) {
          freeze(one.flow, level, link);
          ++num_frozen;
        }
    }
  }
}

/// Flows outside the region that have more than a full link's level, or whose bottleneck was a link that is not
/// full any more, or on which another has more now, join. False if there is none.
bool MaxMin::extend() {
  const size_t before = region_.size();
  const size_t num_links = touched_links_.size();
  for (size_t i = 0; i < num_links; ++i) {
    LinkState& state = links_[touched_links_[i]];
    double load = state.fixed;
    for (const Crossing& one : graph_.crossing(touched_links_[i]))
      if (flows_[one.flow].active && flows_[one.flow].in_region) {
        load += one.weight * flows_[one.flow].new_rate;
        state.most = std::max(state.most, flows_[one.flow].new_rate);
      }
    const bool short_of = load < graph_.link_rate[touched_links_[i]] * (1 - kAlmost);
    for (const Crossing& one : graph_.crossing(touched_links_[i])) {
      const int flow = one.flow;
      if (!flows_[flow].active || flows_[flow].in_region) continue;
      const bool above = state.full && flows_[flow].rate > state.level * (1 + kAlmost);
      const bool lost = flows_[flow].limit == touched_links_[i] &&
                        (short_of || state.most > flows_[flow].rate * (1 + kAlmost)) &&
                        !about(flows_[flow].rate, graph_.flows[flow].cap);
      if (above || lost) join(flow);
    }
  }
  return region_.size() > before;
}

void MaxMin::apply(Ticks now) {
  for (const int flow : region_) {
    const double to = flows_[flow].new_rate * fault_.of_rates;
    const double from = flows_[flow].rate;
    if (to == from || (from > 0 && std::abs(to - from) <= 1e-12 * to)) continue;  // the same but for rounding
    change(flow, to, now);
    new_rates_.push_back(flow);
  }
}

void MaxMin::change(int flow, double to, Ticks now) {
  const double from = flows_[flow].rate;
  flows_[flow].rate = to;
  for (const RouteLink& on : graph_.route(flow)) {
    LinkState& state = links_[on.link];
    bring_up(state, now);
    state.num_active += (to > 0 ? 1 : 0) - (from > 0 ? 1 : 0);
    state.load = state.num_active == 0 ? 0 : state.load + on.weight * (to - from);
  }
}

void MaxMin::bring_up(LinkState& link, Ticks now) const {
  const Ticks passed = now - link.since;
  link.carried += link.load * static_cast<double>(passed) / kTicksPerSecond;
  if (link.num_active > 0) link.busy += passed;
  link.since = now;
}

void MaxMin::check_region() const {
  const auto fail = [](const std::string& what) { throw ConservationError("simulation: " + what + " (a bug)"); };
  constexpr double kSlack = 1e-6;
  for (const int flow : region_) {
    const double rate = flows_[flow].rate;
    for (const RouteLink& on : graph_.route(flow))
      if (links_[on.link].load > graph_.link_rate[on.link] * (1 + kSlack))
        fail("link " + std::to_string(on.link) + " carries " + std::to_string(links_[on.link].load) + " of " +
             std::to_string(graph_.link_rate[on.link]) + " bytes per second");
    const double cap = graph_.flows[flow].cap;
    const auto is_bottleneck = [&](const RouteLink& on) {
      if (links_[on.link].load < graph_.link_rate[on.link] * (1 - kSlack)) return false;
      const auto all = graph_.crossing(on.link);
      return std::none_of(all.begin(), all.end(),
                          [&](const Crossing& one) { return flows_[one.flow].rate > rate * (1 + kSlack); });
    };
    const auto route = graph_.shared_route(flow);
    const bool has_bottleneck = rate >= cap * (1 - kSlack) || std::any_of(route.begin(), route.end(), is_bottleneck);
    if (!has_bottleneck || rate > cap * (1 + kSlack))
      fail("flow " + std::to_string(flow) + " has " + std::to_string(rate) +
           " bytes per second, which is not its fair share");
  }
}

double MaxMin::carried(int link, Ticks now) {
  bring_up(links_[link], now);
  return links_[link].carried * fault_.of_carried;
}

Ticks MaxMin::busy(int link, Ticks now) {
  bring_up(links_[link], now);
  return links_[link].busy;
}

}  // namespace ringtree
