// See rooted_tree.h. The three collectives that move whole vectors along the edges of a tree; nothing here knows which
// tree it is.
#include "core/algorithms/rooted_tree.h"

namespace ringtree {

void add_broadcast(ProgramBuilder& b, const TreeNode& node, int tag) {
  const ChunkRange whole{0};
  if (node.parent < 0)
    b.add(Do(Verb::copy_send, whole).own(kInput).into(kOutput).to(node.children, tag));
  else if (node.children.empty())
    b.add(Do(Verb::recv, whole).from(node.parent, tag).into(kOutput));
  else
    b.add(Do(Verb::recv_copy_send, whole).from(node.parent, tag).into(kOutput).to(node.children, tag));
}

void add_reduce(ProgramBuilder& b, const TreeNode& node, int tag) {
  const ChunkRange whole{0};
  if (node.children.empty())
    b.add(Do(Verb::send, whole).own(kInput).to(node.parent, tag));
  else if (node.parent < 0)
    b.add(Do(Verb::recv_reduce_copy, whole).from(node.children, tag).own(kInput, node.own_at).into(kOutput));
  else
    b.add(Do(Verb::recv_reduce_send, whole).from(node.children, tag).own(kInput, node.own_at).to(node.parent, tag));
}

int add_all_reduce(ProgramBuilder& b, const TreeNode& node, ChunkRange chunks, int tag, int lane) {
  if (node.parent < 0) {
    b.add(Do(Verb::recv_reduce_copy_send, chunks, lane)
              .from(node.children, tag)
              .own(kInput, node.own_at)
              .into(kOutput)
              .to(node.children, tag));
    return lane + 1;
  }
  if (node.children.empty()) {
    b.add(Do(Verb::send, chunks, lane).own(kInput).to(node.parent, tag));
    b.add(Do(Verb::recv, chunks, lane + 1).from(node.parent, tag).into(kOutput));
    return lane + 2;
  }
  b.add(
      Do(Verb::recv_reduce_send, chunks, lane).from(node.children, tag).own(kInput, node.own_at).to(node.parent, tag));
  b.add(Do(Verb::recv_copy_send, chunks, lane + 1).from(node.parent, tag).into(kOutput).to(node.children, tag));
  return lane + 2;
}

CostSummary rooted_tree_cost(Collective collective, int num_ranks, int depth, int num_inner) {
  if (num_ranks == 1) return kCopyCost;
  const double n = num_ranks, inner = num_inner;
  // Up, each rank but the root writes one slot. Down, each inner rank writes one (a multicast), all write their output.
  if (collective == Collective::broadcast) return {1, depth, 1, 2, n + inner};
  if (collective == Collective::reduce) return {1, depth, 1, 1, n};
  const int busiest_sends = num_inner >= 2 ? 2 : 1;  // an inner rank below the root sends up and down
  return {2, 2 * depth, double(busiest_sends), busiest_sends + 1.0, n + (n - 1) + inner};
}

}  // namespace ringtree
