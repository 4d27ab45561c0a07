// One function an algorithm, each in its own file: its row of the table. Only registry.cpp calls them; everybody else
// goes through registry.h.
#pragma once

#include "core/algorithms/registry.h"

namespace ringtree {

Algorithm naive_algorithm();
Algorithm ring_algorithm();
Algorithm tree_algorithm();
Algorithm double_tree_algorithm();
Algorithm chain_algorithm();
Algorithm recursive_doubling_algorithm();
Algorithm halving_doubling_algorithm();
Algorithm one_shot_algorithm();
Algorithm two_shot_algorithm();
Algorithm direct_algorithm();
Algorithm pat_algorithm();
Algorithm hierarchical_ring_algorithm();
Algorithm hierarchical_tree_algorithm();
Algorithm hierarchical_halving_doubling_algorithm();
Algorithm hierarchical_pat_algorithm();

}  // namespace ringtree
