// See algorithm_table.h.
#include "core/builtin/algorithm_table.h"

#include "core/algorithms/registry.h"

namespace ringtree {

AlgorithmTable built_in_table() {
  AlgorithmTable table;
  table.make = make_schedule;
  table.candidates = [](Collective collective, int num_ranks) {
    std::vector<Candidate> candidates;
    for (const Algorithm& algorithm : algorithms())
      if (algorithm.supports(collective)) candidates.push_back({algorithm.name, algorithm.cost(collective, num_ranks)});
    return candidates;
  };
  return table;
}

}  // namespace ringtree
