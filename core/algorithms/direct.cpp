// direct: every byte goes from where it is to where it is wanted in one hop, whatever the collective; what all want is
// a multicast (one slot that all read). In shared memory, where every rank reaches every other alike, nothing moves
// fewer bytes.
//
//   n = 4, rank 1   all_gather      lane 0: copy block 1 into the output and show it to 0, 2, 3
//                                   lane 1: take blocks 2, 3, 0 from their owners
//                   reduce_scatter  give block 2 to 2, 3 to 3, 0 to 0; then fold block 1: a0 (from 0), a1 (own),
//                                   a2, a3 into the output
//                   all_to_all      give block 1·4+d to d, for d = 2, 3, 0; copy block 1·4+1; take block s·4+1 from s,
//                                   for s = 0, 3, 2
//   Where all blocks differ, giving and taking are on one lane: a pass (8 slices a message) goes out, then one comes
//   in. On two, which take turns slice by slice, an all_to_all of 8 MB took twice as long (2 ranks, AMD EPYC); an
//   all_gather of 4 ranks is faster on two.
//   broadcast, gather, scatter: the root gives or takes everything itself; reduce: it folds everything, in rank order.
//
//                    steps   hops   sent by the busiest    written by it     read by it
//   all_gather       n       1      S/n                    (n+1)/n · S       S
//   reduce_scatter   n       1      (n-1)/n · S            S                 (2n-1)/n · S
//   broadcast        1       1      S                      2S                S
//   reduce           1       1      S                      S                 n · S
//   gather           n       1      S/n                    S                 S
//   scatter          n       1      (n-1)/n · S            S                 S
//   all_to_all       2n-1    1      (n-1)/n · S            (2n-1)/n · S      (2n-1)/n · S      (S: what a rank sends)
// Source: the linear algorithms of E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, "Collective communication:
// theory, practice, and experience", Concurrency and Computation 19 (2007); for all_to_all the order of "pairwise
// exchange" in R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH",
// International Journal of High Performance Computing Applications 19(1), 2005.
#include "core/algorithms/builtin.h"
#include "core/algorithms/rooted_tree.h"
#include "core/algorithms/steps.h"

namespace ringtree {
namespace {

std::vector<int> others_of(int rank, int num_ranks) {
  std::vector<int> others;
  for (int peer = 0; peer < num_ranks; ++peer)
    if (peer != rank) others.push_back(peer);
  return others;
}

void all_gather(ProgramBuilder& b) {
  const int n = b.num_ranks(), rank = b.rank();
  b.add(Do(Verb::copy_send, {rank}, 0).own(kInput).into(kOutput).to(others_of(rank, n)));
  for (int offset = 1; offset < n; ++offset) {
    const int peer = around(rank, offset, n);
    b.add(Do(Verb::recv, {peer}, 1).from(peer).into(kOutput));
  }
}

void reduce_scatter(ProgramBuilder& b) {
  const int n = b.num_ranks(), rank = b.rank();
  for (int offset = 1; offset < n; ++offset) {
    const int peer = around(rank, offset, n);
    b.add(Do(Verb::send, {peer}).own(kInput).to(peer));
  }
  b.add(Do(Verb::recv_reduce_copy, {rank}).from(others_of(rank, n)).own(kInput, rank).into(kOutput));
}

TreeNode star(const ProgramBuilder& b) {
  TreeNode node;
  if (b.rank() == b.root()) {
    node.children = others_of(b.rank(), b.num_ranks());
    node.own_at = b.rank();
  } else {
    node.parent = b.root();
  }
  return node;
}

void gather(ProgramBuilder& b) {
  const int n = b.num_ranks(), rank = b.rank(), root = b.root();
  if (rank != root) {
    b.add(Do(Verb::send, {rank}).own(kInput).to(root));
    return;
  }
  b.add(Do(Verb::copy, {rank}).own(kInput).into(kOutput));
  for (int peer : others_of(rank, n)) b.add(Do(Verb::recv, {peer}).from(peer).into(kOutput));
}

void scatter(ProgramBuilder& b) {
  const int n = b.num_ranks(), rank = b.rank(), root = b.root();
  if (rank != root) {
    b.add(Do(Verb::recv, {rank}).from(root).into(kOutput));
    return;
  }
  for (int peer : others_of(rank, n)) b.add(Do(Verb::send, {peer}).own(kInput).to(peer));
  b.add(Do(Verb::copy, {rank}).own(kInput).into(kOutput));
}

void all_to_all(ProgramBuilder& b) {
  const int n = b.num_ranks(), rank = b.rank();
  const auto block = [n](int from, int to) { return ChunkRange{from * n + to}; };
  for (int offset = 1; offset < n; ++offset) {
    const int to = around(rank, offset, n);
    b.add(Do(Verb::send, block(rank, to)).own(kInput).to(to));
  }
  b.add(Do(Verb::copy, block(rank, rank)).own(kInput).into(kOutput));
  for (int offset = 1; offset < n; ++offset) {
    const int from = around(rank, -offset, n);
    b.add(Do(Verb::recv, block(from, rank)).from(from).into(kOutput));
  }
}

void generate(ProgramBuilder& b, Collective collective) {
  if (!has_blocks(collective)) return add_on_tree(b, collective, star(b));
  if (collective == Collective::reduce_scatter) return reduce_scatter(b);
  if (collective == Collective::all_gather) return all_gather(b);
  if (collective == Collective::gather) return gather(b);
  if (collective == Collective::scatter) return scatter(b);
  all_to_all(b);
}

Schedule make(Collective collective, int num_ranks, int root) {
  const int num_chunks = static_cast<int>(num_blocks(collective, num_ranks));
  return schedule_or_copy("direct", collective, num_ranks, root, num_chunks, 1,
                          [collective](ProgramBuilder& b) { generate(b, collective); });
}

CostSummary cost(Collective collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  if (collective == Collective::broadcast || collective == Collective::reduce)
    return rooted_tree_cost(collective, num_ranks,
                            {.depth = 1,
                             .num_inner = 1,
                             .num_of_one_child = num_ranks == 2 ? 1 : 0,
                             .root_children = num_ranks - 1,
                             .inner_children = 0});
  const double n = num_ranks, share = (n - 1) / n;
  CostSummary cost{.steps = num_ranks, .hops = 1, .sent = share, .written = 1, .read = 1};
  cost.total_written = cost.total_read = 1 + share;  // of the rooted ones
  cost.total_in_slots = 2 * share;
  cost.total_received = cost.total_one_way = share;
  cost.messages = cost.links = num_ranks - 1;
  if (collective == Collective::gather) {
    cost.sent = 1 / n;
  } else if (collective == Collective::all_to_all) {
    cost.steps = 2 * num_ranks - 1;
    cost.written = cost.read = 1 + share;
    cost.total_written = cost.total_read = n * (1 + share);
    cost.total_in_slots = 2 * n * share;
    cost.total_received = n * share;
    cost.total_one_way = 0;
    cost.messages = cost.links = int64_t{num_ranks} * (num_ranks - 1);
  } else if (collective != Collective::scatter) {
    const bool is_gather = collective == Collective::all_gather;
    cost.sent = is_gather ? 1 / n : share;
    cost.written = is_gather ? 1 + 1 / n : 1;
    cost.read = is_gather ? 1 : 1 + share;
    cost.total_written = n * cost.written;
    cost.total_read = n * cost.read;
    cost.total_in_slots = n * cost.sent + n * share;
    cost.total_received = n * share;
    cost.total_one_way = is_gather && num_ranks > 2 ? 1 : 0;
    cost.messages = int64_t{num_ranks} * (num_ranks - 1);
    cost.links = is_gather ? num_ranks : cost.messages;
  }
  return cost;
}

}  // namespace

Algorithm direct_algorithm() {
  return {"direct",
          "every byte in one hop from its owner to whoever wants it",
          "linear algorithms, e.g. in Chan, Heimlich, Purkayastha & van de Geijn 2007",
          {Collective::reduce_scatter, Collective::all_gather, Collective::broadcast, Collective::reduce,
           Collective::gather, Collective::scatter, Collective::all_to_all},
          make,
          cost};
}

}  // namespace ringtree
