// ring: every rank only ever sends to the next and receives from the one before. all_reduce is a reduce-scatter, in
// which each chunk travels once around and gathers its sum, and an all-gather, in which the sums travel around once
// more.
//
//   n = 4, rank 1 of all_reduce (r = recv, + = reduce, s = send; chunk in brackets)
//   s[0]  r+s[3]  r+s[2]  r+s[1]   r s[0]  r s[3]  r[2]
//   └ reduce-scatter, ends with  ┘ └ all-gather, all into the output
//     chunk r summed at rank r
//
// Chunk c starts at rank c+1, so its sum is ((a[c+1] + a[c+2]) + …) + a[c], the same for all since it is made once.
// broadcast and reduce are one streaming vector that follows the ring from the root, or up to it, as in NCCL.
//
//                  steps   hops     sent by each rank                                   written        read
//   all_reduce     2n-1    2(n-1)   2(n-1)/n · S, the least possible without multicast  (3n-2)/n · S   (3n-2)/n · S
//   reduce_scatter n       n-1      (n-1)/n · S                                         S              (2n-1)/n · S
//   all_gather     n       n-1      (n-1)/n · S                                         (2n-1)/n · S   S
//   broadcast      1       n-1      S (but the last)                                    2S             S
//   reduce         1       n-1      S (but the last)                                    S              2S
// Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", Journal of
// Parallel and Distributed Computing 69(2), 2009.
#include "core/algorithms/builtin.h"
#include "core/algorithms/rooted_tree.h"
#include "core/algorithms/steps.h"

namespace ringtree {
namespace {

/// One rank's neighbours, and the chunk that it handles `back` hops behind its own.
struct Ring {
  explicit Ring(const ProgramBuilder& b)
      : size(b.num_ranks()), rank(b.rank()), prev(around(rank, -1, size)), next(around(rank, 1, size)) {}
  ChunkRange chunk(int back) const { return {around(rank, -back, size)}; }
  int size, rank, prev, next;
};

// All of the reduce-scatter but its last step, which differs between the collectives.
void begin_reduce_scatter(ProgramBuilder& b, const Ring& ring) {
  b.add(Do(Verb::send, ring.chunk(1)).own(kInput).to(ring.next));
  for (int back = 2; back < ring.size; ++back)
    b.add(Do(Verb::recv_reduce_send, ring.chunk(back)).from(ring.prev).own(kInput, 1).to(ring.next));
}

// All of the all-gather but its first step, which sends the rank's own chunk.
void end_all_gather(ProgramBuilder& b, const Ring& ring) {
  for (int back = 1; back < ring.size - 1; ++back)
    b.add(Do(Verb::recv_copy_send, ring.chunk(back)).from(ring.prev).into(kOutput).to(ring.next));
  b.add(Do(Verb::recv, ring.chunk(ring.size - 1)).from(ring.prev).into(kOutput));
}

void all_reduce(ProgramBuilder& b) {
  const Ring ring(b);
  begin_reduce_scatter(b, ring);
  b.add(Do(Verb::recv_reduce_copy_send, ring.chunk(0)).from(ring.prev).own(kInput, 1).into(kOutput).to(ring.next));
  end_all_gather(b, ring);
}

void reduce_scatter(ProgramBuilder& b) {
  const Ring ring(b);
  begin_reduce_scatter(b, ring);
  b.add(Do(Verb::recv_reduce_copy, ring.chunk(0)).from(ring.prev).own(kInput, 1).into(kOutput));
}

void all_gather(ProgramBuilder& b) {
  const Ring ring(b);
  b.add(Do(Verb::copy_send, ring.chunk(0)).own(kInput).into(kOutput).to(ring.next));
  end_all_gather(b, ring);
}

// The ring, cut behind the root, as a tree: this rank's place in it.
TreeNode place_between(const ProgramBuilder& b, int parent, int child) {
  TreeNode node;
  if (b.rank() != b.root()) node.parent = parent;
  if (child != b.root()) node.children = {child};
  return node;
}

void broadcast(ProgramBuilder& b) {
  const Ring ring(b);
  add_broadcast(b, place_between(b, ring.prev, ring.next));
}

void reduce(ProgramBuilder& b) {
  const Ring ring(b);
  TreeNode node = place_between(b, ring.next, ring.prev);
  node.own_at = 1;  // what arrives was summed by ranks further back
  add_reduce(b, node);
}

Schedule make(Collective collective, int num_ranks, int root) {
  const bool whole = has_root(collective);
  void (*const generators[])(ProgramBuilder&) = {all_reduce, reduce_scatter, all_gather, broadcast, reduce};
  return schedule_or_copy("ring", collective, num_ranks, root, whole ? 1 : num_ranks, 1,
                          generators[static_cast<int>(collective)]);
}

CostSummary cost(Collective collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  if (has_root(collective)) return rooted_tree_cost(collective, num_ranks, chain_form(num_ranks));
  const double n = num_ranks, share = (n - 1) / n;  // of the vector, in one trip around the ring
  CostSummary cost{.steps = num_ranks, .hops = num_ranks - 1, .sent = share};
  // Of n steps those of a reduce-scatter read two operands, but for the first; those of an all-gather read one. An
  // all_reduce makes the last of the one and the first of the other in one step.
  if (collective == Collective::all_gather) {
    cost.written = share + 1;
    cost.read = 1;
  } else if (collective == Collective::reduce_scatter) {
    cost.written = share + 1 / n;
    cost.read = 2 * share + 1 / n;
  } else {
    cost.steps = 2 * num_ranks - 1;
    cost.hops = 2 * (num_ranks - 1);
    cost.sent = 2 * share;
    cost.written = 2 * share + 1;
    cost.read = 3 * share + 1 / n;
  }
  cost.total_written = n * cost.written;
  cost.total_read = n * cost.read;
  cost.total_in_slots = 2 * n * cost.sent;
  cost.total_received = n * cost.sent;
  if (num_ranks > 2) cost.total_one_way = n * cost.sent;
  cost.messages = int64_t{cost.hops} * num_ranks;
  cost.links = num_ranks;
  return cost;
}

}  // namespace

Algorithm ring_algorithm() {
  return {"ring",
          "each rank passes chunks on to the next around a ring",
          "Patarasuk & Yuan 2009",
          {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather, Collective::broadcast,
           Collective::reduce},
          make,
          cost};
}

}  // namespace ringtree
