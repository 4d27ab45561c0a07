// recursive_doubling: all_reduce in ⌊log₂ n⌋ rounds; in round k each rank exchanges its whole partial sum with the rank
// whose number differs in bit k, and both add the two. Few hops, many bytes: for small vectors.
//
//   n = 4, rank 1:  send a1 to 0    receive s0, make s01, send it to 3    receive s23, make s01 + s23
//                                   └ one step, slice by slice            └ one step
//
// Both partners put the lower ranks' sum first, so every rank evaluates the same expression, (a0 + a1) + (a2 + a3).
// What a round makes is sent to the next partner in the same step. Ranks beyond the power of two: see hypercube.h.
//
// With K = ⌊log₂ n⌋ and E = n - 2^K: steps K+1; hops K, + 1 if E > 0, + 1 if 2E > 2^K; sent K·S, + S by ranks with an
// extra; as much is stored; read (2K+1)·S, + S by ranks with an extra. Source: R. Thakur, R. Rabenseifner, W. Gropp,
// "Optimization of collective communication operations in MPICH", International Journal of High Performance Computing
// Applications 19(1), 2005.
#include "core/algorithms/builtin.h"
#include "core/algorithms/hypercube.h"

namespace ringtree {
namespace {

void generate(ProgramBuilder& b) {
  const Hypercube cube(b.num_ranks());
  const int rank = b.rank(), corner = cube.corner(rank);
  if (cube.is_extra(rank)) {
    b.add(Do(Verb::send).own(kInput).to(rank - 1));
    b.add(Do(Verb::recv).from(rank - 1).into(kOutput));
    return;
  }
  const bool has_extra = cube.has_extra(corner);
  auto partner = [&](int round) { return cube.rank(corner ^ (1 << round)); };
  if (has_extra)
    b.add(Do(Verb::recv_reduce_copy_send).from(rank + 1).own(kInput).into(kOutput).to(partner(0)));
  else
    b.add(Do(Verb::send).own(kInput).to(partner(0)));
  for (int round = 0; round < cube.dimensions; ++round) {
    const bool is_last = round + 1 == cube.dimensions, sends = !is_last || has_extra;
    Do step(sends ? Verb::recv_reduce_copy_send : Verb::recv_reduce_copy);
    step.from(partner(round)).own(round == 0 && !has_extra ? kInput : kOutput, partner(round) < rank ? 1 : 0);
    if (sends) step.to(is_last ? rank + 1 : partner(round + 1));
    b.add(step.into(kOutput));
  }
}

Schedule make(Collective collective, int num_ranks, int root) {
  return schedule_or_copy("recursive_doubling", collective, num_ranks, root, 1, 1, generate);
}

CostSummary cost(Collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  const Hypercube cube(num_ranks);
  const int rounds = cube.dimensions, folds = cube.extras > 0 ? 1 : 0;
  // A chain that uses every round ends at the opposite corner. It is one longer at each end that has an extra, and only
  // if more than half of the corners have one do two opposite ones.
  const int hops = rounds + folds + (2 * cube.extras > cube.corners ? 1 : 0);
  const double busiest = rounds + folds;  // sends, and as many stores
  // A corner reads its input for the first message, or two operands with an extra's, then two operands a round. An
  // extra sends, stores and reads what it sends and what it receives.
  const double p = cube.corners, corner_reads = 2 * rounds + 1;
  return {.steps = rounds + 1,
          .hops = hops,
          .sent = busiest,
          .written = 2 * busiest,
          .read = corner_reads + folds,
          .total_written = 2 * rounds * p + 4 * cube.extras,
          .total_read = corner_reads * p + 3 * cube.extras,
          .total_in_slots = 2 * rounds * p + 4 * cube.extras,
          .total_received = rounds * p + 2 * cube.extras,
          .messages = int64_t{rounds} * cube.corners + int64_t{2} * cube.extras,
          .links = int64_t{rounds} * cube.corners + int64_t{2} * cube.extras};
}

}  // namespace

Algorithm recursive_doubling_algorithm() {
  return {"recursive_doubling",
          "exchange whole partial sums with the rank that differs in bit 0, 1, 2, ...",
          "Thakur, Rabenseifner & Gropp 2005",
          {Collective::all_reduce},
          make,
          cost};
}

}  // namespace ringtree
