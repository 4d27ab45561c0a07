// The table of built-in algorithms, in the order in which tables show them: a new one is its own file, which defines
// NAME_algorithm(), and one line here. Only registry.cpp calls these functions; everybody else goes through registry.h.
// Those that need a switch that reduces have a table of their own, as only the simulator has such a switch.
#pragma once

#include "core/algorithms/registry.h"

#define RINGTREE_ALGORITHMS(X)     \
  X(naive)                         \
  X(ring)                          \
  X(tree)                          \
  X(double_tree)                   \
  X(chain)                         \
  X(recursive_doubling)            \
  X(halving_doubling)              \
  X(one_shot)                      \
  X(two_shot)                      \
  X(direct)                        \
  X(pat)                           \
  X(hierarchical_ring)             \
  X(hierarchical_tree)             \
  X(hierarchical_halving_doubling) \
  X(hierarchical_pat)

#define RINGTREE_SWITCH_ALGORITHMS(X) \
  X(nvls)                             \
  X(nvls_tree)

namespace ringtree {

#define RINGTREE_DECLARE(name) Algorithm name##_algorithm();
RINGTREE_ALGORITHMS(RINGTREE_DECLARE)
RINGTREE_SWITCH_ALGORITHMS(RINGTREE_DECLARE)
#undef RINGTREE_DECLARE

}  // namespace ringtree
