// The collectives of `tree` that are made of one block a rank: all_gather and reduce_scatter as binomial trees, one for
// each block, that share their messages. Whole vectors go along the heap tree of tree.cpp.
#pragma once

#include "core/algorithms/steps.h"

namespace ringtree {

/// Most blocks in one step.
int tree_blocks_widest(Collective collective, int num_ranks);

void add_tree_all_gather(ProgramBuilder& b);
void add_tree_reduce_scatter(ProgramBuilder& b);

CostSummary tree_blocks_cost(Collective collective, int num_ranks);

}  // namespace ringtree
