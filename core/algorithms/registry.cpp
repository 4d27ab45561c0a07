// The table of built-in algorithms and look-ups in it; see registry.h. What an algorithm does is its own file's matter.
#include "core/algorithms/registry.h"

#include <algorithm>

#include "core/algorithms/builtin.h"

namespace ringtree {

bool Algorithm::supports(Collective collective) const {
  return std::find(collectives.begin(), collectives.end(), collective) != collectives.end();
}

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table = {naive_algorithm(),
                                               ring_algorithm(),
                                               tree_algorithm(),
                                               double_tree_algorithm(),
                                               chain_algorithm(),
                                               recursive_doubling_algorithm(),
                                               halving_doubling_algorithm(),
                                               one_shot_algorithm(),
                                               two_shot_algorithm(),
                                               direct_algorithm()};
  return table;
}

const Algorithm& find_algorithm(std::string_view name) {
  std::string known;
  for (const Algorithm& algorithm : algorithms()) {
    if (name == algorithm.name) return algorithm;
    known += (known.empty() ? "" : ", ") + std::string(algorithm.name);
  }
  throw UsageError("unknown algorithm '" + std::string(name) + "'; there are: " + known);
}

Schedule make_schedule(std::string_view name, Collective collective, int num_ranks, int root) {
  const Algorithm& algorithm = find_algorithm(name);
  if (!algorithm.supports(collective)) {
    std::string able;
    for (const Algorithm& other : algorithms())
      if (other.supports(collective)) able += (able.empty() ? "" : ", ") + std::string(other.name);
    throw UsageError("algorithm '" + std::string(name) + "' cannot do " + collective_name(collective) +
                     "; these can: " + able);
  }
  return algorithm.make(collective, num_ranks, root);
}

}  // namespace ringtree
