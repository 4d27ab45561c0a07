// See selection.h.
#include "core/engine/selection.h"

#include "core/schedule/layout.h"

namespace ringtree {

AlgorithmChoice choose_algorithm(const AlgorithmTable& table, Collective collective, int num_ranks, int root,
                                 size_t count, size_t item_bytes, const Machine& machine,
                                 const std::optional<Cluster>& emulation) {
  const std::vector<Candidate> candidates = table.candidates(collective, num_ranks);
  Choice choice;
  if (emulation) {
    std::vector<Schedule> schedules;
    for (const Candidate& candidate : candidates)
      schedules.push_back(table.make(candidate.name, collective, num_ranks, root));
    choice = choose_on_cluster(schedules, count, item_bytes, *emulation);
  } else {
    const size_t blocks = has_blocks(collective) ? static_cast<size_t>(num_ranks) : 1;
    choice = choose(candidates, num_ranks, blocks * count * item_bytes, machine);
  }
  return {candidates[static_cast<size_t>(choice.index)].name, choice.reason};
}

}  // namespace ringtree
