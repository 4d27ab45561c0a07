// The table of built-in algorithms and look-ups in it; see registry.h. What an algorithm does is its own file's matter.
#include "core/algorithms/registry.h"

#include <algorithm>
#include <utility>

#include "core/algorithms/builtin.h"
#include "core/algorithms/mix.h"

namespace ringtree {

bool Algorithm::supports(Collective collective) const {
  return std::find(collectives.begin(), collectives.end(), collective) != collectives.end();
}

bool Algorithm::is_candidate(Collective collective, const HostGroups& hosts) const {
  return supports(collective) && (hosts.num_hosts() > 1 || !for_several_hosts);
}

Schedule Algorithm::make(Collective collective, int num_ranks, int root) const {
  if (!compose) return make_flat(collective, num_ranks, root);
  if (num_ranks < 1) throw ScheduleError(std::string(name) + ": needs at least one rank");
  return compose(collective, root, HostGroups::single(num_ranks));
}

Schedule Algorithm::make(Collective collective, int num_ranks, int root, const HostGroups& hosts) const {
  require_all_ranks(hosts, num_ranks);
  return compose ? compose(collective, root, hosts) : make_flat(collective, num_ranks, root);
}

CostSummary Algorithm::cost(Collective collective, int num_ranks) const {
  return compose ? measure(make(collective, num_ranks, 0)) : flat_cost(collective, num_ranks);
}

CostSummary Algorithm::cost(Collective collective, const HostGroups& hosts) const {
  return compose ? measure(compose(collective, 0, hosts)) : flat_cost(collective, hosts.num_ranks());
}

const std::vector<Algorithm>& algorithms() {
#define RINGTREE_ROW(name) name##_algorithm(),
  static const std::vector<Algorithm> table = {RINGTREE_ALGORITHMS(RINGTREE_ROW)};
#undef RINGTREE_ROW
  return table;
}

const std::vector<Algorithm>& switch_algorithms() {
#define RINGTREE_ROW(name) name##_algorithm(),
  static const std::vector<Algorithm> table = {RINGTREE_SWITCH_ALGORITHMS(RINGTREE_ROW)};
#undef RINGTREE_ROW
  return table;
}

const Algorithm& find_algorithm(std::string_view name) {
  std::string known;
  for (const Algorithm& algorithm : algorithms()) {
    if (name == algorithm.name) return algorithm;
    known += (known.empty() ? "" : ", ") + std::string(algorithm.name);
  }
  known += "; and to simulate: ";
  for (const Algorithm& algorithm : switch_algorithms()) {
    if (name == algorithm.name) return algorithm;
    known += (known.ends_with(' ') ? "" : ", ") + std::string(algorithm.name);
  }
  throw UsageError("unknown algorithm '" + std::string(name) + "'; choose from: " + known);
}

namespace {

const Algorithm& find_able(std::string_view name, Collective collective) {
  const Algorithm& algorithm = find_algorithm(name);
  if (algorithm.supports(collective)) return algorithm;
  std::string able;
  for (const Algorithm& other : algorithms())
    if (other.supports(collective)) able += (able.empty() ? "" : ", ") + std::string(other.name);
  throw UsageError("algorithm '" + std::string(name) + "' cannot do " + collective_name(collective) +
                   "; these can: " + able);
}

/// `make`: of one algorithm.
template <class Make>
Schedule alone_or_mixed(std::string_view name, Collective collective, const Make& make) {
  const std::vector<MixPart> parts = parse_mix(name);
  std::vector<Schedule> schedules;
  for (const MixPart& part : parts) schedules.push_back(make(find_able(part.algorithm, collective)));
  return parts.size() == 1 && name == parts[0].algorithm ? schedules[0] : mix(name, parts, std::move(schedules));
}

}  // namespace

Schedule make_schedule(std::string_view name, Collective collective, int num_ranks, int root) {
  return alone_or_mixed(name, collective, [&](const Algorithm& one) { return one.make(collective, num_ranks, root); });
}

Schedule make_schedule(std::string_view name, Collective collective, int num_ranks, int root, const HostGroups& hosts) {
  return alone_or_mixed(name, collective,
                        [&](const Algorithm& one) { return one.make(collective, num_ranks, root, hosts); });
}

}  // namespace ringtree
