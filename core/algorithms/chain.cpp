// chain: the deepest tree, each rank with one child. The vector is reduced from the far end towards the root, slice by
// slice, and streams back the other way. No fan-in and no fan-out: each link carries each byte once in each direction.
//
//   n = 4, root 0    up    3 ──> 2 ──> 1 ──> 0     sums: a0 + (a1 + (a2 + a3))
//                    down  3 <── 2 <── 1 <── 0     rank 0 turns each slice round in one step
//
// With a root other than 0 the chain is root, root+1, …, root-1. Its broadcast is the same as ring's.
//
//                  steps   hops     sent by an inner rank              written   read
//   all_reduce     2       2(n-1)   2S (the root and the far end: S)   3S        3S
//   broadcast      1       n-1      S                                  2S        S
//   reduce         1       n-1      S                                  S         2S
// Source: J. Pjesivac-Grbovic et al., "Performance analysis of MPI collective operations", Cluster Computing 10(2),
// 2007 (there: pipeline).
#include "core/algorithms/builtin.h"
#include "core/algorithms/rooted_tree.h"

namespace ringtree {
namespace {

TreeNode chain_node(const ProgramBuilder& b) {
  const int n = b.num_ranks(), before = around(b.rank(), -1, n), after = around(b.rank(), 1, n);
  TreeNode node;
  if (b.rank() != b.root()) node.parent = before;
  if (after != b.root()) node.children = {after};
  return node;
}

Schedule make(Collective collective, int num_ranks, int root) {
  return schedule_or_copy("chain", collective, num_ranks, root, 1, 1,
                          [collective](ProgramBuilder& b) { add_on_tree(b, collective, chain_node(b)); });
}

CostSummary cost(Collective collective, int num_ranks) {
  return rooted_tree_cost(collective, num_ranks, chain_form(num_ranks));
}

}  // namespace

Algorithm chain_algorithm() {
  return {"chain",
          "reduce along a chain of ranks to its head, broadcast back, streaming",
          "Pjesivac-Grbovic et al. 2007",
          {Collective::all_reduce, Collective::broadcast, Collective::reduce},
          make,
          cost};
}

}  // namespace ringtree
