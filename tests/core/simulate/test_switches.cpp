// A switch that reduces, simulated: what each link carries and how long a call takes, by hand.
//
// S: bytes of the vector, n: ranks, B: bytes per second of a rank's link to the switch, each way; a: latency up and
// down. A rank sends its vector up, its own shard among it, and the sum of its shard; it gets that sum and then the
// whole result (core/algorithms/nvls.cpp): S + S/n each way.
#include <gtest/gtest.h>

#include "core/algorithms/registry.h"
#include "tests/core/simulate/networks.h"

namespace ringtree {
namespace {

constexpr double kRate = 100e9, kUpAndDown = 4e-6;
constexpr size_t kVector = 64 * 63 * 5 * 11 * 4;  // chunks of equal length for the numbers of ranks below

/// Link 2r leads from rank r to its switch, 2r + 1 back; the switch itself has none.
SimulatedNetwork switched(const Traffic& traffic) {
  SimulatedNetwork network = testing::uniform(traffic, kRate, kUpAndDown);
  network.route_links.clear();
  network.route_offsets = {0};
  for (size_t i = 0; i < network.pair_src.size(); ++i) {
    const int src = network.pair_src[i], dst = network.pair_dst[i];
    if (!traffic.shape.is_switch(src)) network.route_links.push_back(2 * src);
    if (!traffic.shape.is_switch(dst)) network.route_links.push_back(2 * dst + 1);
    network.route_offsets.push_back(static_cast<int64_t>(network.route_links.size()));
  }
  return network;
}

Simulated simulated(Collective collective, int n, size_t bytes, const WireProtocol& protocol, size_t slice_bytes,
                    bool use_symmetry = true) {
  const Traffic traffic(make_schedule("nvls", collective, n));
  const size_t blocks = has_blocks(collective) ? static_cast<size_t>(n) : 1;
  return simulate(traffic, {bytes / 4 / blocks, 4, 1, slice_bytes}, switched(traffic), protocol,
                  {.use_symmetry = use_symmetry, .fault = {}});
}

// One slice a step. All parts of a rank leave at once and share its link: S/B. The n sums come down side by side, one a
// rank, and go up again: S/(nB) each. All n results share the way down: S/B.
TEST(SwitchClosedForm, AllReduceInOneSlice) {
  for (int n : {2, 3, 4, 5, 8, 11}) {
    const WireProtocol protocol = testing::slots_of(kVector);
    const Simulated found = simulated(Collective::all_reduce, n, kVector, protocol, protocol.slot_data());
    const double size = static_cast<double>(kVector), expected = 2 * (n + 1) * size / n / kRate + 2 * kUpAndDown;
    EXPECT_NEAR(found.seconds, expected, 1e-3 * expected) << n;
  }
}

TEST(SwitchClosedForm, EachLinkCarriesTheVectorAndAShard) {
  for (int n : {2, 3, 4, 5, 8, 11}) {
    const auto carried = [&](Collective collective) {
      return simulated(collective, n, kVector, WireProtocol{}, 0).link_bytes;
    };
    const auto of = [&](double up, double down, const std::vector<int64_t>& links) {
      for (int rank = 0; rank < n; ++rank) {
        EXPECT_NEAR(static_cast<double>(links[2 * rank]), up * kVector, 64.0 * n) << n;
        EXPECT_NEAR(static_cast<double>(links[2 * rank + 1]), down * kVector, 64.0 * n) << n;
      }
    };
    of(1 + 1.0 / n, 1 + 1.0 / n, carried(Collective::all_reduce));
    of(1, 1.0 / n, carried(Collective::reduce_scatter));
    of(1.0 / n, 1, carried(Collective::all_gather));
  }
}

// With many slices the ways up and down are busy at the same time: busbw comes up to 2(n-1)/(n+1) of the rate, where a
// ring's can't exceed the rate.
TEST(SwitchClosedForm, ManySlicesHideOneWayBehindTheOther) {
  for (int n : {4, 8}) {
    const size_t bytes = kVector * 64;
    const double least = (n + 1) * static_cast<double>(bytes) / n / kRate;
    const double seconds = simulated(Collective::all_reduce, n, bytes, WireProtocol{}, 0).seconds;
    EXPECT_GT(seconds, least);
    EXPECT_LT(seconds, 1.05 * least) << n;
  }
}

TEST(SwitchClosedForm, SymmetryChangesNothing) {
  for (int n : {2, 3, 8}) {
    const Simulated with = simulated(Collective::all_reduce, n, kVector, WireProtocol{}, 0);
    const Simulated without = simulated(Collective::all_reduce, n, kVector, WireProtocol{}, 0, false);
    EXPECT_EQ(with.seconds, without.seconds);
    EXPECT_EQ(with.link_bytes, without.link_bytes);
    EXPECT_EQ(with.rank_seconds.size(), static_cast<size_t>(n));
  }
}

}  // namespace
}  // namespace ringtree
