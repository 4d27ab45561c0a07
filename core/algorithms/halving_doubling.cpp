// halving_doubling: all_reduce with as few bytes as ring in only 2⌊log₂ n⌋ hops. Reduce-scatter by recursive halving:
// in round k a rank exchanges with the rank that differs in bit k, gives one half of the chunks it still has and keeps
// the sums of the other. Then all-gather by recursive doubling, the same exchanges backwards.
//
//   n = 4, chunks 0-3     rank 0             rank 1             rank 2             rank 3
//   halving, bit 0        keeps 01 with 1    keeps 23 with 0    keeps 01 with 3    keeps 23 with 2
//            bit 1        keeps 0  with 2    keeps 2  with 3    keeps 1  with 0    keeps 3  with 1
//   doubling, bit 1       gets  1  from 2    gets  3  from 3    gets  0  from 0    gets  2  from 1
//             bit 0       gets  23 from 1    gets  01 from 0    gets  23 from 3    gets  01 from 2
//
// The largest messages go to the nearest rank. Sums are in rank order, (a0 + a1) + (a2 + a3), made once for each chunk.
// Ranks beyond the power of two (hypercube.h): an extra sends the half that its corner gives away, which is summed and
// passed on at once, then the half that it keeps; the result comes back as a multicast with the last exchange (tag
// kShared) and a half that is passed on.
//
// With P = 2^⌊log₂ n⌋, K = log₂ P, E = n - P: steps 4K-1 (but 4 if n = 3); hops 2K, + 2 if E > 0; sent 2(P-1)/P · S,
// and S/2 more by ranks with an extra; stored 2(P-1)/P · S; read (5P-6)/P · S, + S by ranks with an extra. Source: R.
// Rabenseifner, "Optimization of collective reduction operations", ICCS 2004; vector halving with distance doubling as
// in Thakur, Rabenseifner, Gropp 2005.
#include <algorithm>

#include "core/algorithms/builtin.h"
#include "core/algorithms/hypercube.h"

namespace ringtree {
namespace {

constexpr int kShared = 1;  // tag of the slot that the partner and the extra both read

ChunkRange half(ChunkRange range, bool upper) {
  const int count = range.count / 2;
  return {range.first + (upper ? count : 0), count};
}

class Corner {
 public:
  Corner(ProgramBuilder& b, const Hypercube& cube)
      : b_(b), cube_(cube), rank_(b.rank()), corner_(cube.corner(rank_)), has_extra_(cube.has_extra(corner_)) {}

  void generate() {
    ChunkRange held{0, cube_.corners};
    for (int round = 0; round < cube_.dimensions; ++round) held = halve(held, round);
    for (int round = cube_.dimensions - 1; round >= 0; --round) held = twice(held, round);
  }

 private:
  int partner(int round) const { return cube_.rank(corner_ ^ (1 << round)); }
  bool upper(int round) const { return (corner_ >> round & 1) != 0; }
  bool is_last(int round) const { return round + 1 == cube_.dimensions; }

  ChunkRange halve(ChunkRange held, int round) {
    const ChunkRange given = half(held, !upper(round)), kept = half(held, upper(round));
    const bool fold_extra = round == 0 && has_extra_, partner_first = partner(round) < rank_;
    const Place own = round == 0 ? kInput : kOutput;
    if (fold_extra)
      b_.add(Do(Verb::recv_reduce_send, given).from(rank_ + 1).own(own).to(partner(round)));
    else
      b_.add(Do(Verb::send, given).own(own).to(partner(round)));
    // In rank order: the partner if it is below, this rank, its extra, the partner if it is above.
    Do fold(is_last(round) ? Verb::recv_reduce_copy_send : Verb::recv_reduce_copy, kept);
    if (partner_first) fold.from(partner(round));
    if (fold_extra) fold.from(rank_ + 1);
    if (!partner_first) fold.from(partner(round));
    fold.own(own, partner_first ? 1 : 0).into(kOutput);
    b_.add(is_last(round) ? to_partner(fold, round) : fold);  // the first message of the doubling goes out with it
    return kept;
  }

  ChunkRange twice(ChunkRange held, int round) {
    Do send(Verb::send, held);
    if (!is_last(round)) b_.add(to_partner(send.own(kOutput), round));
    const ChunkRange other{upper(round) ? held.first - held.count : held.first + held.count, held.count};
    const bool shared = round == 0 && cube_.has_extra(corner_ ^ 1), pass_on = round == 0 && has_extra_;
    Do take(pass_on ? Verb::recv_copy_send : Verb::recv, other);
    if (pass_on) take.to(rank_ + 1);
    b_.add(take.from(partner(round), shared ? kShared : 0).into(kOutput));
    return {std::min(held.first, other.first), 2 * held.count};
  }

  Do to_partner(Do step, int round) const {
    if (round == 0 && has_extra_) return step.to({partner(0), rank_ + 1}, kShared);
    return step.to(partner(round));
  }

  ProgramBuilder& b_;
  const Hypercube& cube_;
  int rank_, corner_;
  bool has_extra_;
};

void generate(ProgramBuilder& b) {
  const Hypercube cube(b.num_ranks());
  if (!cube.is_extra(b.rank())) {
    Corner(b, cube).generate();
    return;
  }
  const int corner_rank = b.rank() - 1;
  const bool keeps_upper = (cube.corner(b.rank()) & 1) != 0;
  const ChunkRange all{0, cube.corners}, given = half(all, !keeps_upper), kept = half(all, keeps_upper);
  b.add(Do(Verb::send, given).own(kInput).to(corner_rank));
  b.add(Do(Verb::send, kept).own(kInput).to(corner_rank));
  b.add(Do(Verb::recv, kept).from(corner_rank, kShared).into(kOutput));
  b.add(Do(Verb::recv, given).from(corner_rank).into(kOutput));
}

Schedule make(Collective collective, int num_ranks, int root) {
  const int corners = 1 << floor_log2(num_ranks);
  return schedule_or_copy("halving_doubling", collective, num_ranks, root, corners, std::max(1, corners / 2), generate);
}

CostSummary cost(Collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  const Hypercube cube(num_ranks);
  const int rounds = cube.dimensions;
  const bool folds = cube.extras > 0;
  const double p = cube.corners, share = 2 * (p - 1) / p, passed_on = folds ? 0.5 : 0;
  // Halving reads 3(P-1)/P: what is given and both operands of what is kept. Doubling sends (P-2)/P out of the output,
  // as its first message leaves with the last fold, and takes (P-1)/P. An extra's vector is one more operand of both
  // halves of the first round.
  const double corner_reads = (5 * p - 6) / p;
  return {.steps = folds ? std::max(4 * rounds - 1, 4) : 4 * rounds - 1,
          .hops = 2 * rounds + (folds ? 2 : 0),
          .sent = share + passed_on,
          .written = 2 * share + passed_on,
          .read = corner_reads + (folds ? 1 : 0),
          .total_written = p * 2 * share + 2.5 * cube.extras,
          .total_read = p * corner_reads + 3 * cube.extras,
          // An extra puts both halves of its vector into slots and reads both halves of the result; the corner adds to
          // what it writes only the half that it passes on, and reads the two that it folds.
          .total_in_slots = p * 2 * share + 3.5 * cube.extras,
          .total_received = p * share + 2 * cube.extras,
          .total_one_way = 0.5 * cube.extras,  // what a corner multicasts to its extra and its partner
          .messages = int64_t{2} * rounds * cube.corners + int64_t{4} * cube.extras,
          .links = int64_t{rounds} * cube.corners + int64_t{3} * cube.extras};
}

}  // namespace

Algorithm halving_doubling_algorithm() {
  return {"halving_doubling",
          "reduce-scatter by recursive halving, all-gather by recursive doubling",
          "Rabenseifner 2004",
          {Collective::all_reduce},
          make,
          cost};
}

}  // namespace ringtree
