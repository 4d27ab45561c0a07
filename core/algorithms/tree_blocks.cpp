// tree for all_gather and reduce_scatter: n binomial trees at once, one a block, aggregated into ⌈log₂ n⌉ messages.
//
//   all_gather, n = 5: in the round of distance d rank r holds blocks r … r+d-1 (around the end), sends the first
//   min(d, n-d) of them to rank r-d and receives as many, from block r+d on, from rank r+d, straight into its output.
//     d = 1: holds 0        d = 2: holds 0 1        d = 4: holds 0 1 2 3      rank 0 of 5
//            gets 1 of 1           gets 2 3 of 2           gets 4 of 4
//
//   reduce_scatter is the mirror image: rounds d = 4, 2, 1; rank r sends its partial sums of blocks r+d … to rank r+d
//   and adds what comes from rank r-d to its sums of blocks r … r+d-1. Partial sums live in scratch: slot j holds block
//   r+j. If n is not a power of two, the first round is short, and in the second the blocks' own operands lie partly in
//   scratch, partly still in the input; that round's message is cut in two there.
//
//                    steps                 hops     sent          written           read           scratch
//   all_gather       2⌈log₂ n⌉             ⌈log₂ n⌉ (n-1)/n · S   (2n-1)/n · S      2(n-1)/n · S   0
//   reduce_scatter   2⌈log₂ n⌉, + 2 if cut ⌈log₂ n⌉ (n-1)/n · S   2(n-1)/n · S      3(n-1)/n · S   up to n/2 blocks
// Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all communications
// in multiport message-passing systems", IEEE Transactions on Parallel and Distributed Systems 8(11), 1997; the
// mirror image is the reduce-scatter that NCCL calls PAT with full aggregation.
#include "core/algorithms/tree_blocks.h"

#include <algorithm>
#include <vector>

namespace ringtree {
namespace {

/// Distance of the first round of reduce_scatter (the last of all_gather): half of n, rounded up to a power of two.
int longest_distance(int n) { return n < 2 ? 0 : 1 << (ceil_log2(n) - 1); }

int blocks_in_round(int n, int distance) { return std::min(distance, n - distance); }

/// Where the second round of reduce_scatter is cut, in blocks from the start of its message; 0 if it is not.
int cut_of_second_round(int n) {
  const int first = longest_distance(n), summed = n - first, second = first / 2;
  if (summed == first || second == 0) return 0;
  return summed > second ? summed - second : summed % second;
}

}  // namespace

int tree_blocks_widest(Collective collective, int num_ranks) {
  const int longest = longest_distance(num_ranks), cut = cut_of_second_round(num_ranks);
  const bool is_cut = collective == Collective::reduce_scatter && cut > 0;
  int widest = 1;
  for (int d = 1; d < num_ranks; d *= 2) {
    const int count = blocks_in_round(num_ranks, d);
    widest = std::max(widest, is_cut && d == longest / 2 ? std::max(cut, count - cut) : count);
  }
  return widest;
}

void add_tree_all_gather(ProgramBuilder& b) {
  const int n = b.num_ranks(), r = b.rank();
  for (int d = 1; d < n; d *= 2) {
    const int count = blocks_in_round(n, d), to = around(r, -d, n), from = around(r, d, n);
    if (d == 1)
      b.add(Do(Verb::copy_send, {r}).own(kInput).into(kOutput).to(to));
    else
      b.add(Do(Verb::send, {r, count}).own(kOutput).to(to));
    b.add(Do(Verb::recv, {from, count}).from(from).into(kOutput));
  }
}

void add_tree_reduce_scatter(ProgramBuilder& b) {
  const int n = b.num_ranks(), r = b.rank(), longest = longest_distance(n);
  b.reserve_scratch(longest < 2 ? 0 : std::max(n - longest, longest / 2));
  int summed = 0;  // blocks r … r+summed-1 have partial sums in scratch, the others' operands are in the input
  auto own = [&](int offset) { return offset < summed ? scratch(offset) : kInput; };
  for (int d = longest; d >= 1; d /= 2) {
    const int count = blocks_in_round(n, d), to = around(r, d, n), from = around(r, -d, n);
    const int cut = d == longest / 2 ? cut_of_second_round(n) : 0;
    const std::vector<int> starts = cut > 0 ? std::vector<int>{0, cut} : std::vector<int>{0};
    auto length = [&](int start) { return start < cut ? cut - start : count - start; };
    for (int start : starts) b.add(Do(Verb::send, {around(r, d + start, n), length(start)}).own(own(d + start)).to(to));
    for (int start : starts)
      b.add(Do(Verb::recv_reduce_copy, {around(r, start, n), length(start)})
                .from(from)
                .own(own(start))
                .into(d == 1 ? kOutput : scratch(start)));
    summed = count;
  }
}

CostSummary tree_blocks_cost(Collective collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  const double n = num_ranks, share = (n - 1) / n;
  const int rounds = ceil_log2(num_ranks);
  const bool is_gather = collective == Collective::all_gather;
  const bool is_cut = !is_gather && cut_of_second_round(num_ranks) > 0;
  const double written = share + (is_gather ? 1 : share), read = share + (is_gather ? share : 2 * share);
  return {.steps = 2 * rounds + (is_cut ? 2 : 0),
          .hops = rounds,
          .sent = share,
          .written = written,
          .read = read,
          .total_written = n * written,
          .total_read = n * read,
          .total_in_slots = 2 * n * share,
          .total_received = n * share,
          .total_one_way = one_way_blocks(num_ranks, [&](int d) { return blocks_in_round(num_ranks, d); }),
          .messages = int64_t{rounds + (is_cut ? 1 : 0)} * num_ranks,
          .links = int64_t{rounds} * num_ranks};
}

}  // namespace ringtree
