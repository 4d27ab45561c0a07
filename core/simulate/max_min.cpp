// See max_min.h.
#include "core/simulate/max_min.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ringtree {
namespace {

constexpr double kAlmost = 1e-9;  // of a rate: less is rounding

bool about(double value, double wanted) { return std::abs(value - wanted) <= kAlmost * wanted; }

}  // namespace

MaxMin::MaxMin(const FlowGraph& graph, SharingFault fault)
    : graph_(graph),
      fault_(fault),
      links_(graph.link_rate.size()),
      active_(graph.connections.size()),
      is_dirty_(graph.connections.size()),
      in_region_(graph.connections.size()),
      frozen_(graph.connections.size()),
      rate_(graph.connections.size()),
      new_rate_(graph.connections.size()),
      limit_(graph.connections.size(), kCopying) {}

void MaxMin::start(int connection) {
  active_[connection] = true;
  mark(connection);
}

void MaxMin::stop(int connection) {
  active_[connection] = false;
  mark(connection);
}

void MaxMin::mark(int connection) {
  if (!is_dirty_[connection]) dirty_.push_back(connection);
  is_dirty_[connection] = true;
}

void MaxMin::touch(int link) {
  LinkState& state = links_[link];
  if (state.touched) return;
  state.touched = true;
  touched_links_.push_back(link);
}

void MaxMin::join(int connection) {
  if (in_region_[connection] || !active_[connection]) return;
  in_region_[connection] = true;
  region_.push_back(connection);
  for (const RouteLink& on : graph_.shared_route(connection)) touch(on.link);
}

const std::vector<int>& MaxMin::settle(Ticks now) {
  new_rates_.clear();
  if (dirty_.empty()) return new_rates_;
  for (const int connection : dirty_) {
    is_dirty_[connection] = false;
    const bool was = rate_[connection] > 0;
    if (was == static_cast<bool>(active_[connection])) continue;
    if (!was) join(connection);
    for (const RouteLink& on : graph_.shared_route(connection)) {
      touch(on.link);
      for (const Crossing& one : graph_.crossing(on.link)) join(one.connection);
    }
    if (was) change(connection, 0, now);
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
  for (const int connection : region_) in_region_[connection] = false;
  touched_links_.clear();
  region_.clear();
  return new_rates_;
}

/// Progressive filling of the region: all its connections rise together until a cap or a full link stops some.
void MaxMin::fill() {
  for (const int link : touched_links_) {
    LinkState& state = links_[link];
    state.fixed = state.open = state.most = 0;
    state.full = false;
    for (const Crossing& one : graph_.crossing(link)) {
      if (!active_[one.connection]) continue;
      if (in_region_[one.connection]) {
        state.open += one.weight;
      } else {
        state.fixed += one.weight * rate_[one.connection];
      }
    }
    state.left = std::max(0.0, graph_.link_rate[link] - state.fixed);
  }
  for (const int connection : region_) frozen_[connection] = false;
  const auto freeze = [&](int connection, double at, int by) {
    frozen_[connection] = true;
    new_rate_[connection] = at;
    limit_[connection] = by;
    for (const RouteLink& on : graph_.shared_route(connection)) {
      links_[on.link].left = std::max(0.0, links_[on.link].left - on.weight * at);
      links_[on.link].open -= on.weight;
    }
  };
  size_t num_frozen = 0;
  while (num_frozen < region_.size()) {
    double level = std::numeric_limits<double>::infinity();
    for (const int link : touched_links_) {
      const LinkState& state = links_[link];
      if (state.open > 0.5) level = std::min(level, state.left / state.open);
    }
    double cap = std::numeric_limits<double>::infinity();
    for (const int connection : region_)
      if (!frozen_[connection]) cap = std::min(cap, graph_.connections[connection].cap);
    if (cap <= level) {
      for (const int connection : region_)
        if (!frozen_[connection] && graph_.connections[connection].cap <= level) {
          freeze(connection, graph_.connections[connection].cap, graph_.connections[connection].cap_by);
          ++num_frozen;
        }
      continue;
    }
    for (const int link : touched_links_) {
      LinkState& state = links_[link];
      if (state.open <= 0.5 || state.left / state.open > level * (1 + 1e-12)) continue;
      state.full = true;
      state.level = level;
      for (const Crossing& one : graph_.crossing(link))
        if (active_[one.connection] && in_region_[one.connection] && !frozen_[one.connection]) {
          freeze(one.connection, level, link);
          ++num_frozen;
        }
    }
  }
}

/// Connections outside the region that have more than a full link's level, or whose bottleneck was a link that is not
/// full any more, or on which another has more now, join. False if there is none.
bool MaxMin::extend() {
  const size_t before = region_.size();
  const size_t num_links = touched_links_.size();
  for (size_t i = 0; i < num_links; ++i) {
    LinkState& state = links_[touched_links_[i]];
    double load = state.fixed;
    for (const Crossing& one : graph_.crossing(touched_links_[i]))
      if (active_[one.connection] && in_region_[one.connection]) {
        load += one.weight * new_rate_[one.connection];
        state.most = std::max(state.most, new_rate_[one.connection]);
      }
    const bool short_of = load < graph_.link_rate[touched_links_[i]] * (1 - kAlmost);
    for (const Crossing& one : graph_.crossing(touched_links_[i])) {
      const int connection = one.connection;
      if (!active_[connection] || in_region_[connection]) continue;
      const bool above = state.full && rate_[connection] > state.level * (1 + kAlmost);
      const bool lost = limit_[connection] == touched_links_[i] &&
                        (short_of || state.most > rate_[connection] * (1 + kAlmost)) &&
                        !about(rate_[connection], graph_.connections[connection].cap);
      if (above || lost) join(connection);
    }
  }
  return region_.size() > before;
}

void MaxMin::apply(Ticks now) {
  for (const int connection : region_) {
    const double to = new_rate_[connection] * fault_.of_rates;
    const double from = rate_[connection];
    if (to == from || (from > 0 && std::abs(to - from) <= 1e-12 * to)) continue;  // the same but for rounding
    change(connection, to, now);
    new_rates_.push_back(connection);
  }
}

void MaxMin::change(int connection, double to, Ticks now) {
  const double from = rate_[connection];
  rate_[connection] = to;
  for (const RouteLink& on : graph_.route(connection)) {
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
  for (const int connection : region_) {
    const double rate = rate_[connection];
    for (const RouteLink& on : graph_.route(connection))
      if (links_[on.link].load > graph_.link_rate[on.link] * (1 + kSlack))
        fail("link " + std::to_string(on.link) + " carries " + std::to_string(links_[on.link].load) + " of " +
             std::to_string(graph_.link_rate[on.link]) + " bytes per second");
    const double cap = graph_.connections[connection].cap;
    const auto is_bottleneck = [&](const RouteLink& on) {
      if (links_[on.link].load < graph_.link_rate[on.link] * (1 - kSlack)) return false;
      const auto all = graph_.crossing(on.link);
      return std::none_of(all.begin(), all.end(),
                          [&](const Crossing& one) { return rate_[one.connection] > rate * (1 + kSlack); });
    };
    const auto route = graph_.shared_route(connection);
    const bool has_bottleneck = rate >= cap * (1 - kSlack) || std::any_of(route.begin(), route.end(), is_bottleneck);
    if (!has_bottleneck || rate > cap * (1 + kSlack))
      fail("connection " + std::to_string(connection) + " has " + std::to_string(rate) +
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
