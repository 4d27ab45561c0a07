// Which algorithm `auto` runs: the choice, and why. Every rank must choose alike, so everything that the choice depends
// on is agreed when the communicator is made. The engine knows algorithms only through the table that it is handed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/settings.h"
#include "core/model/estimate.h"
#include "core/schedule/cost_summary.h"

namespace ringtree {

/// What the engine needs of core/algorithms.
struct AlgorithmTable {
  std::function<Schedule(std::string_view name, Collective collective, int num_ranks, int root)> make;
  std::function<std::vector<Candidate>(Collective collective, int num_ranks)> candidates;
};

struct AlgorithmChoice {
  std::string algorithm;
  std::string reason;  // one line with the figures
};

/// Chooses by the closed-form model, or for an emulated cluster by timing every schedule with the sliced recurrence.
AlgorithmChoice choose_algorithm(const AlgorithmTable& table, Collective collective, int num_ranks, int root,
                                 size_t count, size_t item_bytes, const Machine& machine,
                                 const std::optional<Cluster>& emulation);

}  // namespace ringtree
