// naive: all_reduce through one rank, as a first textbook chapter would do it and nobody should. Rank 0 takes every
// peer's vector, one peer after another, adds it to its own, then sends the result to one peer after another. It is
// here as the bad example: all bytes pass through rank 0.
//
//   n = 4      1 ─┐              ┌─> 1
//              2 ─┼─> 0 (sums) ──┼─> 2        peer after peer, in rank order
//              3 ─┘              └─> 3
//
// Steps: 2(n-1) at rank 0, 2 elsewhere. Sent: (n-1)·S by rank 0, S by the others. Rank 0 writes 2(n-1)·S and reads
// 3(n-1)·S; each of the others writes and reads 2S. Expression: ((a0 + a1) + a2) + a3.
// Source: the linear algorithms against which E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, "Collective
// communication: theory, practice, and experience", Concurrency and Computation 19 (2007), set better ones.
#include "core/algorithms/builtin.h"
#include "core/algorithms/steps.h"

namespace ringtree {
namespace {

void generate(ProgramBuilder& b) {
  if (b.rank() != 0) {
    b.add(Do(Verb::send).own(kInput).to(0));
    b.add(Do(Verb::recv).from(0).into(kOutput));
    return;
  }
  for (int peer = 1; peer < b.num_ranks(); ++peer)
    b.add(Do(Verb::recv_reduce_copy).from(peer).own(peer == 1 ? kInput : kOutput).into(kOutput));
  for (int peer = 1; peer < b.num_ranks(); ++peer) b.add(Do(Verb::send).own(kOutput).to(peer));
}

Schedule make(Collective collective, int num_ranks, int root) {
  return schedule_or_copy("naive", collective, num_ranks, root, 1, 1, generate);
}

CostSummary cost(Collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  const double peers = num_ranks - 1;
  return {.steps = 2 * (num_ranks - 1),
          .hops = 2,
          .sent = peers,
          .written = 2 * peers,
          .read = 3 * peers,
          .total_written = 4 * peers,
          .total_read = 5 * peers,
          .total_in_slots = 4 * peers,
          .total_received = 2 * peers,
          .messages = int64_t{2} * (num_ranks - 1),
          .links = int64_t{2} * (num_ranks - 1)};
}

}  // namespace

Algorithm naive_algorithm() {
  return {"naive",
          "gather to rank 0 and reduce there, then broadcast, one peer after another (a bad example)",
          "linear algorithm, e.g. in Chan, Heimlich, Purkayastha & van de Geijn 2007",
          {Collective::all_reduce},
          make,
          cost};
}

}  // namespace ringtree
