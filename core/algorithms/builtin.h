// The table of built-in algorithms, in the order in which tables show them: a new one is its own file, which defines
// NAME_algorithm(), and one line here. Only registry.cpp calls these functions; everybody else goes through registry.h.
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

namespace ringtree {

#define RINGTREE_DECLARE(name) Algorithm name##_algorithm();
RINGTREE_ALGORITHMS(RINGTREE_DECLARE)
#undef RINGTREE_DECLARE

}  // namespace ringtree
