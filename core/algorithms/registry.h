// The table of built-in algorithms: name, what it can do, how to make its schedule, its cost in closed form. The
// engine, the lab and the documentation read this table; nothing outside this folder knows an algorithm by its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/cost_summary.h"
#include "core/schedule/schedule.h"

namespace ringtree {

struct Algorithm {
  const char* name;    // as users call it: "ring"
  const char* title;   // one line
  const char* source;  // where it was published
  std::vector<Collective> collectives;
  Schedule (*make)(Collective collective, int num_ranks, int root);
  CostSummary (*cost)(Collective collective, int num_ranks);

  bool supports(Collective collective) const;
};

/// In the order in which tables show them.
const std::vector<Algorithm>& algorithms();

/// Throws UsageError that lists what exists.
const Algorithm& find_algorithm(std::string_view name);

/// find_algorithm + make; throws UsageError if it cannot do `collective`, and says which can.
Schedule make_schedule(std::string_view name, Collective collective, int num_ranks, int root = 0);

}  // namespace ringtree
