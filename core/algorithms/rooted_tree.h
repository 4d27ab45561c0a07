// What every algorithm on a rooted tree does, whatever the tree's form (heap, in-order, chain): reduce towards the
// root, broadcast away from it, or both. The forms themselves are the algorithms' (tree.cpp, double_tree.cpp,
// chain.cpp).
//
//   up lane     leaf: send            inner: recv_reduce_send            root: recv_reduce_copy(_send)
//   down lane   leaf: recv            inner: recv_copy_send (multicast)  root: copy_send
//
// Every step streams, so slice i + 1 climbs while slice i is on its way down.
#pragma once

#include <vector>

#include "core/algorithms/steps.h"

namespace ringtree {

/// One rank's place in a tree.
struct TreeNode {
  int parent = -1;            // -1: this rank is the root
  std::vector<int> children;  // in fold order
  int own_at = 0;             // place of the rank's own operand among them
};

/// The nodes below have at least one neighbour (n >= 2); links carry `tag`.
void add_broadcast(ProgramBuilder& b, const TreeNode& node, int tag = 0);
void add_reduce(ProgramBuilder& b, const TreeNode& node, int tag = 0);
/// Reduce up in lane `lane`, broadcast down in the next one; the root does both in one step. Returns the next free
/// lane.
int add_all_reduce(ProgramBuilder& b, const TreeNode& node, ChunkRange chunks = {0}, int tag = 0, int lane = 0);

/// Whichever of the three `collective` is.
void add_on_tree(ProgramBuilder& b, Collective collective, const TreeNode& node);

/// What a tree's costs depend on.
struct TreeForm {
  int depth = 0;             // levels below the root
  int num_inner = 0;         // ranks that have children, the root among them
  int num_of_one_child = 0;  // of these, ranks with exactly one
  int root_children = 0;     // of the root
  int inner_children = 0;    // most of a rank below the root; 0 if all of them are leaves
};

/// The form in which each rank has one child.
TreeForm chain_form(int num_ranks);

/// Cost of all_reduce, broadcast or reduce.
CostSummary rooted_tree_cost(Collective collective, int num_ranks, const TreeForm& form);

}  // namespace ringtree
