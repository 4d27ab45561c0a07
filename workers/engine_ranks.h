// Starts the ranks of the engine's worker: processes forked from this one, before it has any thread. Not for what they
// do then.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace ringtree::workers {

/// Forks `num_ranks` processes that run `rank_main(rank)`, whose result is their exit code. Returns their ids by rank.
/// Throws std::runtime_error if one cannot be made; those that were made are left to end by themselves.
std::vector<pid_t> fork_ranks(int num_ranks, const std::function<int(int rank)>& rank_main);

/// Waits for all. 0 if all ended with 0; else 1, and stderr says which did not.
int wait_for_ranks(const std::vector<pid_t>& ranks);

}  // namespace ringtree::workers
