// The closed forms of cost() against what measure() counts in the schedules, and measure() itself where the answer is
// known by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "core/algorithms/registry.h"

namespace ringtree {
namespace {

void expect_same_share(double closed, double counted, const std::string& what) {
  EXPECT_LE(std::abs(closed - counted), 1e-12 * std::abs(counted)) << what << ": " << closed << " vs " << counted;
}

TEST(Costs, closed_forms_equal_what_is_counted) {
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives)
      for (int n = 1; n <= 33; ++n) {
        const std::string what =
            std::string(algorithm.name) + " " + collective_name(collective) + ", n = " + std::to_string(n);
        const CostSummary closed = algorithm.cost(collective, n);
        const CostSummary counted = measure(algorithm.make(collective, n, has_root(collective) ? n / 2 : 0));
        EXPECT_EQ(closed.steps, counted.steps) << what;
        EXPECT_EQ(closed.hops, counted.hops) << what;
        expect_same_share(closed.sent, counted.sent, what + ", sent");
        expect_same_share(closed.written, counted.written, what + ", written");
        expect_same_share(closed.total_written, counted.total_written, what + ", total_written");
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
  for (const Algorithm& algorithm : algorithms())
    EXPECT_GT(measure(algorithm.make(Collective::all_reduce, 64, 0)).hops, 0) << algorithm.name;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));  // slack for sanitizers
}

}  // namespace
}  // namespace ringtree
