// tree: the textbook's binary tree in heap order over the ranks counted from the root: the children of v are 2v+1 and
// 2v+2. Sums climb, the result comes down; both stream, so a long vector takes the time of its slowest link and not of
// all levels.
//
//   n = 7, root 0          0            up: each rank adds its children's sums to its own and sends that on
//                        ┌─┴─┐          down: each rank sends the result to both children (one multicast)
//                        1   2          the root turns each slice round in one step
//                       ┌┴┐ ┌┴┐
//                       3 4 5 6         sum at 1: (a1 + s3) + s4
//
//                  steps   hops          sent by an inner rank    written by it    read by it
//   all_reduce     2       2⌊log₂ n⌋     2S                       3S               4S
//   broadcast      1       ⌊log₂ n⌋      S                        2S               S
//   reduce         1       ⌊log₂ n⌋      S                        S                3S
//   reduce_scatter, all_gather: see tree_blocks.cpp; gather, scatter: see tree_rooted_blocks.cpp
// Leaves, half of all ranks, send S only: that is what double_tree mends.
// Source: textbook; pipelined binary trees are analysed in P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for
// full bandwidth broadcast, reduction and scan", Parallel Computing 35(12), 2009, section 2.
#include <algorithm>

#include "core/algorithms/builtin.h"
#include "core/algorithms/rooted_tree.h"
#include "core/algorithms/tree_blocks.h"
#include "core/algorithms/tree_rooted_blocks.h"

namespace ringtree {
namespace {

TreeNode heap_node(const ProgramBuilder& b) {
  const int n = b.num_ranks(), root = b.root(), v = around(b.rank(), -root, n);
  TreeNode node;
  if (v > 0) node.parent = around((v - 1) / 2, root, n);
  for (int child : {2 * v + 1, 2 * v + 2})
    if (child < n) node.children.push_back(around(child, root, n));
  return node;
}

void generate(ProgramBuilder& b, Collective collective) {
  if (!has_blocks(collective)) return add_on_tree(b, collective, heap_node(b));
  if (collective == Collective::reduce_scatter) return add_tree_reduce_scatter(b);
  if (collective == Collective::all_gather) return add_tree_all_gather(b);
  if (collective == Collective::gather) return add_tree_gather(b);
  add_tree_scatter(b);
}

Schedule make(Collective collective, int num_ranks, int root) {
  const bool aggregated = has_blocks(collective) && !has_root(collective);
  return schedule_or_copy("tree", collective, num_ranks, root, has_blocks(collective) ? num_ranks : 1,
                          aggregated ? tree_blocks_widest(collective, num_ranks) : 1,
                          [collective](ProgramBuilder& b) { generate(b, collective); });
}

CostSummary cost(Collective collective, int num_ranks) {
  if (has_blocks(collective))
    return has_root(collective) ? tree_rooted_blocks_cost(collective, num_ranks)
                                : tree_blocks_cost(collective, num_ranks);
  return rooted_tree_cost(collective, num_ranks,
                          {.depth = floor_log2(num_ranks),
                           .num_inner = num_ranks / 2,
                           .num_of_one_child = num_ranks % 2 == 0 ? 1 : 0,
                           .root_children = std::min(2, num_ranks - 1),
                           .inner_children = std::clamp(num_ranks - 3, 0, 2)});  // of node 1: nodes 3 and 4
}

}  // namespace

Algorithm tree_algorithm() {
  return {"tree",
          "binary tree in heap order, streaming; blocks by aggregated binomial trees",
          "textbook; Sanders, Speck & Traeff 2009; Bruck et al. 1997",
          {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather, Collective::broadcast,
           Collective::reduce, Collective::gather, Collective::scatter},
          make,
          cost};
}

}  // namespace ringtree
