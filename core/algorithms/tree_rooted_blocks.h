// tree for gather and scatter; see tree_rooted_blocks.cpp.
#pragma once

#include "core/algorithms/steps.h"

namespace ringtree {

void add_tree_gather(ProgramBuilder& b);
void add_tree_scatter(ProgramBuilder& b);
CostSummary tree_rooted_blocks_cost(Collective collective, int num_ranks);

}  // namespace ringtree
