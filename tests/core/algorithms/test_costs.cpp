// The closed forms of cost() against what measure() counts in the schedules, and measure() itself where the answer is
// known by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>

#include "core/algorithms/registry.h"
#include "tests/core/sanitized.h"

namespace ringtree {
namespace {

void expect_same_share(double closed, double counted, const std::string& what) {
  EXPECT_LE(std::abs(closed - counted), 1e-12 * std::abs(counted)) << what << ": " << closed << " vs " << counted;
}

TEST(Costs, closed_forms_equal_what_is_counted) {
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives)
      for (int n = 1; n <= 33; ++n) {
        if (!testing::worth_running(n)) continue;
        const std::string what =
            std::string(algorithm.name) + " " + collective_name(collective) + ", n = " + std::to_string(n);
        const CostSummary closed = algorithm.cost(collective, n);
        const CostSummary counted = measure(algorithm.make(collective, n, has_root(collective) ? n / 2 : 0));
        EXPECT_EQ(closed.steps, counted.steps) << what;
        EXPECT_EQ(closed.hops, counted.hops) << what;
        expect_same_share(closed.sent, counted.sent, what + ", sent");
        expect_same_share(closed.written, counted.written, what + ", written");
        expect_same_share(closed.read, counted.read, what + ", read");
        expect_same_share(closed.total_written, counted.total_written, what + ", total_written");
        expect_same_share(closed.total_read, counted.total_read, what + ", total_read");
        expect_same_share(closed.total_in_slots, counted.total_in_slots, what + ", total_in_slots");
        expect_same_share(closed.total_received, counted.total_received, what + ", total_received");
        expect_same_share(closed.total_one_way, counted.total_one_way, what + ", total_one_way");
        EXPECT_EQ(closed.messages, counted.messages) << what;
        EXPECT_EQ(closed.links, counted.links) << what;
      }
}

// all_reduce of 4 ranks, operands counted by hand from the drawings at the top of each algorithm's file:
//   naive               rank 0 folds 2 operands 3 times and sends 3 times: 9; the others send and receive: 2 each
//   ring                a rank's 7 steps read 1, 2, 2, 2, 1, 1, 1 quarters
//   tree                rank 0 folds 3; rank 1 folds 2 and receives; ranks 2 and 3 send and receive
//   double_tree         half of it as a leaf (2), half as an inner rank with two children (3 + 1) for ranks 1 and 2;
//                       ranks 0 and 3 are a leaf (2) and the root with one child (2)
//   chain               the root folds 2; ranks 1 and 2 fold 2 and receive; rank 3 sends and receives
//   recursive_doubling  a rank sends, and folds 2 operands twice
//   halving_doubling    2 quarters sent, 2 · 2 folded, 1 sent, 1 · 2 folded, 1 received, 2 sent, 2 received
//   one_shot            a rank sends, and folds 4 operands
//   two_shot            3 quarters sent, 4 folded, 3 received
//   hierarchical_*      on one host as two_shot, but an owner reads its sum again to show it
TEST(Costs, reads_of_four_ranks_by_hand) {
  const std::map<std::string, std::pair<double, double>> busiest_and_total = {
      {"naive", {9, 15}},
      {"ring", {2.5, 10}},
      {"tree", {3, 10}},
      {"double_tree", {3, 10}},
      {"chain", {3, 10}},
      {"recursive_doubling", {5, 20}},
      {"halving_doubling", {3.5, 14}},
      {"one_shot", {5, 20}},
      {"two_shot", {2.5, 10}},
      {"hierarchical_ring", {2.75, 11}},
      {"hierarchical_tree", {2.75, 11}},
      {"hierarchical_halving_doubling", {2.75, 11}}};
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.supports(Collective::all_reduce)) continue;
    const CostSummary cost = algorithm.cost(Collective::all_reduce, 4);
    ASSERT_TRUE(busiest_and_total.contains(algorithm.name)) << algorithm.name;
    EXPECT_EQ(cost.read, busiest_and_total.at(algorithm.name).first) << algorithm.name;
    EXPECT_EQ(cost.total_read, busiest_and_total.at(algorithm.name).second) << algorithm.name;
  }
}

// Lower bounds of Chan, Heimlich, Purkayastha & van de Geijn 2007: an all-reduce takes at least ⌈log₂ n⌉ hops unless
// ranks take from many at once, and each rank of a balanced one sends at least 2(n-1)/n.
TEST(Costs, ring_sends_the_least_and_halving_doubling_as_little_in_fewer_hops) {
  for (int n : {2, 4, 8, 16, 32}) {
    const CostSummary ring = find_algorithm("ring").cost(Collective::all_reduce, n);
    const CostSummary halving = find_algorithm("halving_doubling").cost(Collective::all_reduce, n);
    expect_same_share(2.0 * (n - 1) / n, ring.sent, "ring");
    expect_same_share(ring.sent, halving.sent, "halving_doubling");
    EXPECT_EQ(ring.hops, 2 * (n - 1));
    EXPECT_EQ(halving.hops, 2 * static_cast<int>(std::log2(n)));
  }
}

TEST(Costs, counting_64_ranks_is_quick) {
  const auto start = std::chrono::steady_clock::now();
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.supports(Collective::all_reduce)) continue;
    EXPECT_GT(measure(algorithm.make(Collective::all_reduce, 64, 0)).hops, 0) << algorithm.name;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));  // slack for sanitizers
}

}  // namespace
}  // namespace ringtree
