// pat (parallel aggregated trees): all_gather and reduce_scatter in ⌈log₂ n⌉ rounds, for any n, in which what travels
// far is small: the longest distance is crossed by single blocks, half of all blocks move to the next rank only. (tree
// has as many rounds, but moves half of all blocks half way round.) Each block has a binomial tree over the offsets of
// ranks from its owner; the trees of all blocks run at once and share their messages.
//
//   all_gather, n = 8: in the round of distance d every rank sends what it holds of blocks r, r-2d, r-4d, … to r+d.
//     block 0   d = 4: 0 -> 4      d = 2: 0 -> 2, 4 -> 6      d = 1: 0 -> 1, 2 -> 3, 4 -> 5, 6 -> 7
//     rank 0    gets 4 (of 4)      gets 6, 2 (of 6)           gets 7, 5, 3, 1 (of 7)
//
//   reduce_scatter is the mirror image, d = 1, 2, 4: rank r sends its partial sums of blocks r-d, r-3d, … to r-d and
//   folds what comes from r+d into those of r, r-2d, … Offsets from n on do not exist: who would hear from them is left
//   out. Partial sums lie in scratch. A message's operand must lie there side by side, but of what one round sums the
//   next sends every other block: the first round, which reads the input, sends odd and even apart; later ones, of an
//   eighth of the blocks and fewer, copy them together first.
//
//                    steps               hops       sent         written              read
//   all_gather       2⌈log₂ n⌉           ⌈log₂ n⌉   (n-1)/n · S  (2n-1)/n · S         2(n-1)/n · S
//   reduce_scatter   2⌈log₂ n⌉, + 2 if   ⌈log₂ n⌉   (n-1)/n · S  (2(n-1)+c)/n · S     (3(n-1)+c)/n · S
//                    n > 5, + c          c: blocks copied, 0 for n ≤ 8 but 7, less than n/2 (see num_copied)
//   One hop less where nobody passes on what comes from farthest: 2^k < n ≤ 1.5 · 2^k.
// Sending and receiving are lanes of their own, so that a message may be cut into several (compose.h does).
// Source: S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", arXiv 2506.20252,
// 2025; in NCCL since 2.23. There a limit of the buffers bounds how many blocks a message aggregates; here the engine
// cuts a step into passes instead, so that a round is always one message (or two).
#include <algorithm>
#include <vector>

#include "core/algorithms/builtin.h"
#include "core/algorithms/steps.h"

namespace ringtree {
namespace {

constexpr int kSending = 0, kTaking = 1;  // lanes

void all_gather(ProgramBuilder& b) {
  const int n = b.num_ranks(), r = b.rank(), longest = 1 << (ceil_log2(n) - 1);
  for (int d = longest; d >= 1; d /= 2) {
    const int count = (n - 1 + d) / (2 * d), stride = count > 1 ? -2 * d : 1;  // offsets 2dk with 2dk + d < n
    const int to = around(r, d, n), from = around(r, -d, n);
    if (d == longest)
      b.add(Do(Verb::copy_send, {r}, kSending).own(kInput).into(kOutput).to(to));
    else
      b.add(Do(Verb::send, {r, count, stride}, kSending).own(kOutput).to(to));
    b.add(Do(Verb::recv, {from, count, stride}, kTaking).from(from).into(kOutput));
  }
}

/// One rank's reduce_scatter. held_[i] is where its partial sum of block r - i·d lies in the round of distance d.
class ReduceScatter {
 public:
  explicit ReduceScatter(ProgramBuilder& b) : b_(b), n_(b.num_ranks()), r_(b.rank()), held_(n_, kInput) {}

  void generate() {
    for (; held_.size() > 1; distance_ *= 2) round();
  }

 private:
  int num_pairs() const { return static_cast<int>(held_.size() / 2); }

  /// Blocks r - i·d for i = first, first + step, …
  ChunkRange blocks(int first, int step, int count) const {
    return {around(r_, -first * distance_, n_), count, count > 1 ? -step * distance_ : 1};
  }

  void round() {
    const int pairs = num_pairs(), parts = distance_ == 1 && pairs > 2 ? 2 : 1;
    const bool is_last = held_.size() == 2;
    const Place given = side_by_side(1), kept = side_by_side(0);
    std::vector<Place> next((held_.size() + 1) / 2, held_.back());  // without a partner: stays where it is
    for (int part = 0; part < parts; ++part)
      b_.add(Do(Verb::send, blocks(2 * part + 1, 2 * parts, size_of(part, parts)), kSending)
                 .own(given)
                 .to(around(r_, -distance_, n_)));
    for (int part = 0; part < parts; ++part) {
      const int count = size_of(part, parts);
      const Place sums = is_last ? kOutput : kept == kInput ? scratch(b_.reserve_scratch(count)) : kept;
      b_.add(Do(Verb::recv_reduce_copy, blocks(2 * part, 2 * parts, count), kTaking)
                 .from(around(r_, distance_, n_))
                 .own(kept)
                 .into(sums));
      for (int i = 0; i < count; ++i) next[index(part + i * parts)] = {sums.buffer, sums.slot + i};
    }
    held_ = std::move(next);
  }

  int size_of(int part, int parts) const { return (num_pairs() - part + parts - 1) / parts; }

  /// Where held_[first], held_[first + 2], … of all pairs lie side by side, copied together if need be.
  Place side_by_side(int first) {
    const auto place = [&](int pair) { return held_[index(first + 2 * pair)]; };
    const Place begin = place(0);
    int fitting = 1;
    while (fitting < num_pairs() && follows(begin, place(fitting), fitting)) ++fitting;
    if (fitting == num_pairs()) return begin;
    const int region = b_.reserve_scratch(num_pairs());
    for (int pair = 0; pair < num_pairs(); ++pair)
      b_.add(Do(Verb::copy, blocks(first + 2 * pair, 1, 1), kTaking).own(place(pair)).into(scratch(region + pair)));
    return scratch(region);
  }

  static size_t index(int at) { return static_cast<size_t>(at); }

  static bool follows(const Place& begin, const Place& place, int distance) {
    if (begin.buffer == Buffer::input) return place.buffer == Buffer::input;
    return place.buffer == Buffer::scratch && place.slot == begin.slot + distance;
  }

  ProgramBuilder& b_;
  int n_, r_;
  int distance_ = 1;
  std::vector<Place> held_;
};

/// Of the rounds of reduce_scatter, with 2p or 2p + 1 partial sums at hand: the first reads the input; the second finds
/// its blocks sorted, unless the last offset joins them that had no partner before; the others copy what they give and
/// what they keep. Single blocks need no neighbours.
int num_copied(int n) {
  int copied = 0;
  for (int size = n, round = 0; size > 1; size = (size + 1) / 2, ++round) {
    const int pairs = size / 2;
    if (pairs < 2) break;
    if (round == 1 && n % 2 == 1 && size % 2 == 0) copied += pairs;
    if (round >= 2) copied += 2 * pairs;
  }
  return copied;
}

int widest(Collective collective, int n) {
  const int first = n / 2, second = (n + 1) / 2 / 2;
  if (collective == Collective::all_gather) return std::max(1, first);
  return std::max({1, first > 2 ? (first + 1) / 2 : first, second});
}

Schedule make(Collective collective, int num_ranks, int root) {
  return schedule_or_copy("pat", collective, num_ranks, root, num_ranks, widest(collective, num_ranks),
                          [collective](ProgramBuilder& b) {
                            if (collective == Collective::all_gather) return all_gather(b);
                            ReduceScatter(b).generate();
                          });
}

CostSummary cost(Collective collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  const bool is_gather = collective == Collective::all_gather;
  const int rounds = ceil_log2(num_ranks), copied = is_gather ? 0 : num_copied(num_ranks);
  const double n = num_ranks, share = (n - 1) / n;
  const int farthest = 1 << (rounds - 1);
  const bool is_passed_on = farthest + farthest / 2 < num_ranks;
  CostSummary cost{.steps = 2 * rounds + copied, .hops = is_passed_on ? rounds : rounds - 1, .sent = share};
  if (!is_gather && num_ranks > 5) cost.steps += 2;
  cost.written = share + (is_gather ? 1 : share + copied / n);
  cost.read = share + (is_gather ? share : 2 * share + copied / n);
  cost.total_written = n * cost.written;
  cost.total_read = n * cost.read;
  cost.total_in_slots = 2 * n * share;
  cost.total_received = n * share;
  cost.total_one_way = one_way_blocks(num_ranks, [&](int d) { return (num_ranks - 1 + d) / (2 * d); });
  cost.links = int64_t{rounds} * num_ranks;
  cost.messages = cost.links + (!is_gather && num_ranks > 5 ? num_ranks : 0);
  return cost;
}

}  // namespace

Algorithm pat_algorithm() {
  return {.name = "pat",
          .title = "a binomial tree for each block, aggregated: what travels far is small",
          .source = "Jeaugey 2025 (PAT); as in NCCL",
          .collectives = {Collective::reduce_scatter, Collective::all_gather},
          .make_flat = make,
          .flat_cost = cost,
          .for_several_hosts = true};
}

}  // namespace ringtree
