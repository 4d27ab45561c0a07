// See rooted_tree.h. The three collectives that move whole vectors along the edges of a tree; nothing here knows which
// tree it is.
#include "core/algorithms/rooted_tree.h"

#include <algorithm>

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

void add_on_tree(ProgramBuilder& b, Collective collective, const TreeNode& node) {
  if (collective == Collective::broadcast)
    add_broadcast(b, node);
  else if (collective == Collective::reduce)
    add_reduce(b, node);
  else
    add_all_reduce(b, node);
}

TreeForm chain_form(int num_ranks) {
  return {.depth = num_ranks - 1,
          .num_inner = num_ranks - 1,
          .num_of_one_child = num_ranks - 1,
          .root_children = 1,
          .inner_children = num_ranks > 2 ? 1 : 0};
}

// Up, each rank but the root writes one slot, and each reads its own operand and its children's. Down, each inner rank
// writes one slot (a multicast), all write their output, and each reads once: the root its input, or in an all_reduce
// nothing, as the result is at hand.
CostSummary rooted_tree_cost(Collective collective, int num_ranks, const TreeForm& form) {
  if (num_ranks == 1) return kCopyCost;
  const double n = num_ranks, inner = form.num_inner;
  CostSummary cost{.steps = 1, .hops = form.depth, .sent = 1};
  if (collective == Collective::broadcast) {
    cost.written = 2;
    cost.read = 1;
    cost.total_written = n + inner;
    cost.total_read = n;
    cost.total_in_slots = inner + (n - 1);
    cost.total_received = n - 1;
    cost.total_one_way = inner;
    cost.messages = num_ranks - 1;
    cost.links = form.num_inner;
  } else if (collective == Collective::reduce) {
    cost.written = 1;
    cost.read = 1 + std::max(form.root_children, form.inner_children);
    cost.total_written = n;
    cost.total_read = n + (n - 1);
    cost.total_in_slots = 2 * (n - 1);
    cost.total_received = cost.total_one_way = n - 1;
    cost.messages = cost.links = num_ranks - 1;
  } else {
    cost.steps = 2;
    cost.hops = 2 * form.depth;
    cost.sent = form.num_inner >= 2 ? 2 : 1;  // an inner rank below the root sends up and down
    cost.written = cost.sent + 1;
    cost.read = std::max(1 + form.root_children, 2 + form.inner_children);
    cost.total_written = n + (n - 1) + inner;
    cost.total_read = n + 2 * (n - 1);
    cost.total_in_slots = 3 * (n - 1) + inner;
    cost.total_received = 2 * (n - 1);
    // All but what ranks and their only children send to each other.
    cost.total_one_way = (n - 1) + inner - 2 * form.num_of_one_child;
    cost.messages = int64_t{2} * (num_ranks - 1);
    cost.links = num_ranks - 1 + form.num_inner;
  }
  return cost;
}

}  // namespace ringtree
