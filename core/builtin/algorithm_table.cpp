// See algorithm_table.h.
#include "core/builtin/algorithm_table.h"

#include "core/algorithms/registry.h"

namespace ringtree {

AlgorithmTable built_in_table() {
  AlgorithmTable table;
  table.make = [](std::string_view name, Collective collective, int root, const HostGroups& hosts) {
    return make_schedule(name, collective, hosts.num_ranks(), root, hosts);
  };
  table.candidates = [](Collective collective, const HostGroups& hosts) {
    std::vector<Candidate> candidates;
    for (const Algorithm& algorithm : algorithms())
      if (algorithm.is_candidate(collective, hosts))
        candidates.push_back({algorithm.name, algorithm.cost(collective, hosts)});
    return candidates;
  };
  return table;
}

}  // namespace ringtree
