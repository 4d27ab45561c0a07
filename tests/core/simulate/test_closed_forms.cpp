// The simulator against times derived by hand, on uniform clusters of 2 to 64 ranks.
//
// S: bytes of the vector, a: latency of a message, C: bytes per second at which one message crosses, g: bytes per
// second of a fold. Steps are one slice each (slots as large as they need): with more slices the pipeline fills while
// ranks with two messages share, for which there is no closed form. Ranks have ports of 4 C each way, so that the at
// most four messages of a rank do not share: what limits them is copying.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/algorithms/registry.h"
#include "tests/core/simulate/networks.h"

namespace ringtree {
namespace {

constexpr size_t kBytes = 64 * 63 * 1024;  // a multiple of no more than some n: chunks differ by 4 bytes elsewhere
constexpr double kLatency = 3e-6, kCopy = 20e9, kFold = 90e9;
constexpr double kClose = 1e-3;  // the bar is 0.1 %; chunks of unequal length make up for most of it

struct Costs {
  double hop(double bytes) const { return kLatency + bytes / kCopy; }
  double fold(double bytes) const { return bytes / kFold; }
};
constexpr Costs kCost;

double simulated(const char* name, int n, size_t bytes = kBytes) {
  const Traffic traffic(make_schedule(name, Collective::all_reduce, n));
  const SimulatedNetwork network = testing::uniform(traffic, 4 * kCopy, kLatency, kCopy, kFold);
  const WireProtocol protocol = testing::slots_of(bytes);
  return simulate(traffic, {bytes / 4, 4, 1, protocol.slot_data()}, network, protocol).seconds;
}

void expect_close(double seconds, double expected, const char* name, int n) {
  EXPECT_NEAR(seconds, expected, kClose * expected) << name << " on " << n << " ranks";
}

// 2(n-1) messages of S/n, one after the other; each of the first n-1 is folded before the next one leaves.
TEST(ClosedForm, Ring) {
  for (int n = 2; n <= 64; ++n) {
    const double chunk = static_cast<double>(kBytes) / n;
    expect_close(simulated("ring", n), 2 * (n - 1) * kCost.hop(chunk) + (n - 1) * kCost.fold(chunk), "ring", n);
  }
}

// The longest way up is the leftmost one, of D = floor(log2 n) hops. Each rank on it folds two children, but if n = 2^D
// the last leaf has no sibling. The way down is D hops without folds.
TEST(ClosedForm, Tree) {
  for (int n = 2; n <= 64; ++n) {
    const int depth = std::bit_width(static_cast<unsigned>(n)) - 1;
    const int folds = 2 * depth - (std::has_single_bit(static_cast<unsigned>(n)) ? 1 : 0);
    expect_close(simulated("tree", n), 2 * depth * kCost.hop(kBytes) + folds * kCost.fold(kBytes), "tree", n);
  }
}

/// In the in-order tree node v with lowest set bit b has the children v - b/2 and v + b/2, or beyond the last node the
/// nearest one to the right: the largest b/2^i with v + b/2^i < n. Node 0 has the one child that is the power of two
/// below n.
std::vector<int> in_order_children(int v, int n) {
  if (v == 0) return {static_cast<int>(std::bit_ceil(static_cast<unsigned>(n)) / 2)};
  int half = (v & -v) / 2;
  if (half == 0) return {};
  std::vector<int> children{v - half};
  while (half > 0 && v + half >= n) half /= 2;
  if (half > 0) children.push_back(v + half);
  return children;
}

double climb(int v, int n, double bytes) {
  double ready = 0;
  const std::vector<int> children = in_order_children(v, n);
  for (int child : children) ready = std::max(ready, climb(child, n, bytes) + kCost.hop(bytes));
  return ready + static_cast<double>(children.size()) * kCost.fold(bytes);
}

int depth_below(int v, int n) {
  int depth = 0;
  for (int child : in_order_children(v, n)) depth = std::max(depth, 1 + depth_below(child, n));
  return depth;
}

// Both trees have the same form and half of the vector each. A node sends up when its children's halves have come and
// are folded. For n = 2^k the sum is 2k hops and 2k - 1 folds: every node folds two but the root, which has one child.
TEST(ClosedForm, DoubleTree) {
  for (int n = 2; n <= 64; ++n) {
    const double half = kBytes / 2.0;
    const double expected = climb(0, n, half) + depth_below(0, n) * kCost.hop(half);
    expect_close(simulated("double_tree", n), expected, "double_tree", n);
    if (!std::has_single_bit(static_cast<unsigned>(n))) continue;
    const int k = std::bit_width(static_cast<unsigned>(n)) - 1;
    EXPECT_NEAR(expected, 2 * k * kCost.hop(half) + (2 * k - 1) * kCost.fold(half), 1e-12);
  }
}

// K rounds, each with the whole vector and a fold. With E ranks beyond 2^K, those send first, which is a hop and a fold
// more; the result then comes back to them over one hop more, which is on the longest way only if one that began with
// such a rank ends at one, at the opposite corner of the cube: if more than half of the corners have one.
TEST(ClosedForm, RecursiveDoubling) {
  for (int n = 2; n <= 64; ++n) {
    const int rounds = std::bit_width(static_cast<unsigned>(n)) - 1, corners = 1 << rounds, extras = n - corners;
    const int folds = rounds + (extras > 0 ? 1 : 0), hops = folds + (2 * extras > corners ? 1 : 0);
    expect_close(simulated("recursive_doubling", n), hops * kCost.hop(kBytes) + folds * kCost.fold(kBytes),
                 "recursive_doubling", n);
  }
}

// Round k exchanges S/2^k and folds it, then the same exchanges backwards without folds. For powers of two: ranks
// beyond have two messages under way at once, the larger sum of which depends on the sizes.
TEST(ClosedForm, HalvingDoubling) {
  for (int n = 2; n <= 64; n *= 2) {
    double expected = 0;
    for (int parts = 2; parts <= n; parts *= 2) {
      const double bytes = static_cast<double>(kBytes) / parts;
      expected += 2 * kCost.hop(bytes) + kCost.fold(bytes);
    }
    expect_close(simulated("halving_doubling", n), expected, "halving_doubling", n);
  }
}

// Many slices in a chain, where there is a closed form: slice i climbs while slice i + 1 is behind it, so the whole
// takes as long as its first slice and the others one behind the other. Root and last rank turn round in one step, so a
// slice makes 2(n-1) hops; of the others each adds its time on the slowest link.
TEST(ClosedForm, ChainOfSlices) {
  constexpr int kRanks = 5;
  constexpr size_t kSlices = 64, kSlice = size_t{1} << 16;
  const Traffic traffic(make_schedule("chain", Collective::broadcast, kRanks));
  const SimulatedNetwork network = testing::uniform(traffic, kCopy, kLatency, 4 * kCopy, kFold);
  const WireProtocol protocol;
  const double seconds = simulate(traffic, {kSlices * kSlice, 1, 1, kSlice}, network, protocol).seconds;
  EXPECT_NEAR(seconds, (kRanks - 1) * kCost.hop(kSlice) + (kSlices - 1) * static_cast<double>(kSlice) / kCopy, 1e-9);
}

// A ring with many slices is limited by its links, 2(n-1)/n S each; but in each pass (4 slices of a chunk) a rank
// first gets the last message of the pass before, and so its link idles for one latency a pass.
TEST(ClosedForm, RingOfManySlices) {
  constexpr size_t kGigabyte = size_t{1} << 30;
  const Traffic traffic(make_schedule("ring", Collective::all_reduce, 16));
  const SimulatedNetwork network = testing::uniform(traffic, kCopy, 1e-6);
  const double passes = static_cast<double>(kGigabyte / 16 / (4 * kSlotBytes));
  const double expected = 2.0 * 15 / 16 * static_cast<double>(kGigabyte) / kCopy + passes * 1e-6;
  const double seconds = simulate(traffic, {kGigabyte / 4, 4, 1, kSlotBytes}, network, WireProtocol{}).seconds;
  EXPECT_NEAR(seconds, expected, kClose * expected);
}

}  // namespace
}  // namespace ringtree
