// The table of built-in algorithms: name, what it can do, how to make its schedule, its cost in closed form. The
// engine, the lab and the documentation read this table; nothing outside this folder knows an algorithm by its name.
//
// Most algorithms are flat: they do not look at which ranks share a host. A composition does one thing inside the hosts
// and another one between them (compose.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/cost_summary.h"
#include "core/schedule/host_groups.h"
#include "core/schedule/schedule.h"

namespace ringtree {

struct Algorithm {
  const char* name;    // as users call it: "ring"
  const char* title;   // one line
  const char* source;  // where it was published
  std::vector<Collective> collectives;
  // A flat one has these two, a composition the third; callers use make() and cost().
  Schedule (*make_flat)(Collective collective, int num_ranks, int root) = nullptr;
  CostSummary (*flat_cost)(Collective collective, int num_ranks) = nullptr;
  Schedule (*compose)(Collective collective, int root, const HostGroups& hosts) = nullptr;
  bool for_several_hosts = false;  // on one host it runs too, but something simpler does the same: no candidate there

  bool supports(Collective collective) const;
  /// supports(), and worth a thought where ranks live so: what `auto` chooses from and tables list.
  bool is_candidate(Collective collective, const HostGroups& hosts) const;
  /// Without `hosts` all ranks share one. Throws UsageError if `hosts` are not those of `num_ranks` ranks.
  Schedule make(Collective collective, int num_ranks, int root) const;
  Schedule make(Collective collective, int num_ranks, int root, const HostGroups& hosts) const;
  /// In closed form; a composition's is counted in its schedule, which takes as long as making it.
  CostSummary cost(Collective collective, int num_ranks) const;
  CostSummary cost(Collective collective, const HostGroups& hosts) const;
};

/// In the order in which tables show them. Ranks alone can run these.
const std::vector<Algorithm>& algorithms();

/// Those that let a switch add up and multicast (ScheduleShape::switches): they are proved and simulated, not run.
/// Their hosts are the ranks that are joined to one switch.
const std::vector<Algorithm>& switch_algorithms();

/// Of both tables. Throws UsageError that lists what exists.
const Algorithm& find_algorithm(std::string_view name);

/// find_algorithm + make, also of mixes, as "ring:3+double_tree" (mix.h); throws UsageError if an algorithm cannot do
/// `collective`, and says which can.
Schedule make_schedule(std::string_view name, Collective collective, int num_ranks, int root = 0);
Schedule make_schedule(std::string_view name, Collective collective, int num_ranks, int root, const HostGroups& hosts);

}  // namespace ringtree
