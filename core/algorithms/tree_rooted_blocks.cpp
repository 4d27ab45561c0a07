// tree for gather and scatter: a binomial tree over the ranks counted from the root. The parent of v is v without its
// lowest bit; the subtree of v are the ranks v … v + lowest bit - 1, as far as there are.
//
//   n = 7, root 0        0           gather: each rank sends its own block up, then passes on the blocks of its
//                    ┌──┬┴──┐        children's subtrees, smallest subtree first
//                    1  2   4        scatter: each rank takes its own block, then passes on those of its children's
//                       │  ┌┴┐       subtrees; the root serves its largest subtree first
//                       3  5 6
//
// Blocks are passed on one by one: they stream, so nothing is stored on the way.
//
//             steps   hops       sent by the busiest     written, read by the root
//   gather    n       ⌊log₂ n⌋   the largest subtree     S, S
//   scatter   n       ⌊log₂ n⌋   (n-1)/n · S, the root   S, S
// Source: the binomial trees of MPICH's gather and scatter, in R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
// collective communication operations in MPICH", International Journal of High Performance Computing Applications
// 19(1), 2005.
#include "core/algorithms/tree_rooted_blocks.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace ringtree {
namespace {

/// The rank that this program is for, counted from the root, and its place in the tree.
class Node {
 public:
  explicit Node(const ProgramBuilder& b) : n_(b.num_ranks()), root_(b.root()), self_(around(b.rank(), -root_, n_)) {}

  bool is_root() const { return self_ == 0; }
  int parent() const { return rank(self_ & (self_ - 1)); }
  /// Counted from the root; smallest subtree first.
  std::vector<int> children() const {
    std::vector<int> all;
    for (int bit = 1; (is_root() || bit < (self_ & -self_)) && self_ + bit < n_; bit *= 2) all.push_back(self_ + bit);
    return all;
  }
  /// The ranks of a child's subtree, as many as there are.
  std::vector<int> subtree(int child) const {
    std::vector<int> all;
    for (int v = child; v < std::min(child + (child & -child), n_); ++v) all.push_back(v);
    return all;
  }
  int rank(int v) const { return around(v, root_, n_); }

 private:
  int n_, root_, self_;
};

}  // namespace

// Between two ranks the blocks of a subtree travel in ascending order: the child's own, then its smallest subtree,
// which begins right behind it, and so on.

void add_tree_gather(ProgramBuilder& b) {
  const Node node(b);
  if (node.is_root())
    b.add(Do(Verb::copy, {b.rank()}).own(kInput).into(kOutput));
  else
    b.add(Do(Verb::send, {b.rank()}).own(kInput).to(node.parent()));
  for (int child : node.children())
    for (int v : node.subtree(child)) {
      const int block = node.rank(v), from = node.rank(child);
      if (node.is_root())
        b.add(Do(Verb::recv, {block}).from(from).into(kOutput));
      else
        b.add(Do(Verb::recv_send, {block}).from(from).to(node.parent()));
    }
}

void add_tree_scatter(ProgramBuilder& b) {
  const Node node(b);
  if (!node.is_root()) b.add(Do(Verb::recv, {b.rank()}).from(node.parent()).into(kOutput));
  std::vector<int> children = node.children();
  if (node.is_root()) std::reverse(children.begin(), children.end());  // who has most to pass on is served first
  for (int child : children)
    for (int v : node.subtree(child)) {
      const int block = node.rank(v), to = node.rank(child);
      if (node.is_root())
        b.add(Do(Verb::send, {block}).own(kInput).to(to));
      else
        b.add(Do(Verb::recv_send, {block}).from(node.parent()).to(to));
    }
  if (node.is_root()) b.add(Do(Verb::copy, {b.rank()}).own(kInput).into(kOutput));
}

CostSummary tree_rooted_blocks_cost(Collective collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  const double n = num_ranks;
  int largest = 0, passed = 0;  // blocks of the root's largest child; messages of all ranks together
  for (int bit = 1; bit < num_ranks; bit *= 2) largest = std::max(largest, std::min(bit, num_ranks - bit));
  for (unsigned v = 1; v < static_cast<unsigned>(num_ranks); ++v) passed += std::popcount(v);
  const bool is_gather = collective == Collective::gather;
  return {.steps = num_ranks,
          .hops = floor_log2(num_ranks),
          .sent = (is_gather ? largest : n - 1) / n,
          .written = 1,
          .read = 1,
          .total_written = 1 + passed / n,
          .total_read = 1 + passed / n,
          .total_in_slots = 2 * passed / n,
          .total_received = passed / n,
          .total_one_way = passed / n,
          .messages = passed,
          .links = num_ranks - 1};
}

}  // namespace ringtree
