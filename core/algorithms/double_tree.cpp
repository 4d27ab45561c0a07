// double_tree: two binary trees over the same ranks, each of which carries one half of the vector. Inner ranks of one
// are leaves of the other, so that (but for the ends) every rank sends and receives about the same.
//
//   n = 8      first tree, in order           second tree, its mirror image (rank -> n-1-rank)
//              0 ─────────┐                              ┌───────── 7
//                   ┌──── 4 ────┐                  ┌──── 3 ────┐
//                ┌─ 2 ─┐     ┌─ 6 ─┐            ┌─ 1 ─┐     ┌─ 5 ─┐
//                1     3     5     7            0     2     4     6
//
// In the first tree a rank with lowest set bit b has children rank - b/2 and rank + b/2 (or, beyond the last rank, the
// nearest one to the right that exists); rank 0 is the root with one child. For odd n the mirror image would have the
// same leaves; there the second tree is the first shifted by one rank. Subtrees are runs of ranks, so folding in rank
// order makes the first half's sum a sum in rank order.
//
// Steps: 4 (two a tree) in 4 lanes. Hops: 2⌈log₂ n⌉. By the busiest rank 3/2 S are sent, 5/2 S written, 3 S read.
// Source: P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// Parallel Computing 35(12), 2009; this numbering of the trees is NCCL's (since 2.4).
#include <algorithm>
#include <array>

#include "core/algorithms/builtin.h"
#include "core/algorithms/rooted_tree.h"

namespace ringtree {
namespace {

/// Node `v` of the in-order tree of `n` >= 2 nodes.
TreeNode in_order_node(int v, int n) {
  TreeNode node;
  if (v == 0) {
    node.children = {1 << (ceil_log2(n) - 1)};
    return node;
  }
  const int bit = v & -v;
  const int above = (v ^ bit) | (bit << 1);
  node.parent = above < n ? above : v ^ bit;
  int reach = bit >> 1;
  if (reach == 0) return node;
  node.children = {v - reach};
  while (reach > 0 && v + reach >= n) reach >>= 1;
  if (reach > 0) node.children.push_back(v + reach);
  return node;
}

/// `rank`'s node in the first (0) or the second (1) tree.
TreeNode node_in(int which, int rank, int n) {
  auto renumbered = [&](int x,
                        int shift) {  // rank -> node (shift -1) or node -> rank (shift +1); mirrors undo themselves
    if (which == 0) return x;
    return n % 2 == 0 ? n - 1 - x : around(x, shift, n);
  };
  TreeNode node = in_order_node(renumbered(rank, -1), n);
  if (node.parent >= 0) node.parent = renumbered(node.parent, +1);
  for (int& child : node.children) child = renumbered(child, +1);
  std::sort(node.children.begin(), node.children.end());
  node.own_at = static_cast<int>(
      std::count_if(node.children.begin(), node.children.end(), [&](int child) { return child < rank; }));
  return node;
}

void generate(ProgramBuilder& b) {
  int lane = 0;
  for (int which : {0, 1})  // chunk and tag are the tree's number: both trees may use the same pair of ranks
    lane = add_all_reduce(b, node_in(which, b.rank(), b.num_ranks()), {which}, which, lane);
}

Schedule make(Collective collective, int num_ranks, int root) {
  return schedule_or_copy("double_tree", collective, num_ranks, root, 2, 1, generate);
}

/// Halves of the vector that go one way: down to two children, and up to a parent that sends nothing to this rank
/// alone.
int one_way_halves(int n) {
  std::array<std::vector<TreeNode>, 2> trees;
  for (const int which : {0, 1})
    for (int rank = 0; rank < n; ++rank) trees[which].push_back(node_in(which, rank, n));
  const auto sends_alone = [&trees](int from, int to) {
    return std::ranges::any_of(trees, [&](const std::vector<TreeNode>& tree) {
      return tree[from].parent == to || tree[from].children == std::vector<int>{to};
    });
  };
  int halves = 0;
  for (const std::vector<TreeNode>& tree : trees)
    for (int rank = 0; rank < n; ++rank) {
      if (tree[rank].children.size() > 1) ++halves;
      if (tree[rank].parent >= 0 && !sends_alone(tree[rank].parent, rank)) ++halves;
    }
  return halves;
}

CostSummary cost(Collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  const int hops = 2 * ceil_log2(num_ranks), num_inner = (num_ranks + 1) / 2;  // of each tree: the even nodes
  const double n = num_ranks, inner = num_inner;
  CostSummary cost{.steps = 4,
                   .hops = hops,
                   .sent = 1.5,
                   .written = 2.5,
                   // a leaf of one tree, 2/2, and an inner rank of the other with two children, 4/2 (with one: 3/2)
                   .read = num_ranks == 3 ? 2.5 : 3,
                   .total_written = n + (n - 1) + inner,
                   .total_read = n + 2 * (n - 1),
                   .total_in_slots = 3 * (n - 1) + inner,
                   .total_received = 2 * (n - 1),
                   .total_one_way = one_way_halves(num_ranks) / 2.,
                   .messages = int64_t{4} * (num_ranks - 1),
                   .links = int64_t{2} * (num_ranks - 1 + num_inner)};
  if (num_ranks == 2) {  // each rank is a root and a leaf
    cost.steps = 3;
    cost.sent = 1;
    cost.written = cost.read = 2;
  }
  return cost;
}

}  // namespace

Algorithm double_tree_algorithm() {
  return {"double_tree",
          "two binary trees, each with half of the vector; inner ranks of one are leaves of the other",
          "Sanders, Speck & Traeff 2009; as in NCCL",
          {Collective::all_reduce},
          make,
          cost};
}

}  // namespace ringtree
