// One of each class does what all do: the symmetric simulation against the full one, and colourings that are wrong.
#include <gtest/gtest.h>

#include "core/algorithms/registry.h"
#include "tests/core/simulate/networks.h"

namespace ringtree {
namespace {

void expect_same(const Schedule& schedule, const CallSize& size, const SimulatedNetwork& network, bool is_smaller) {
  const Traffic traffic(schedule);
  SimulateOptions full;
  full.use_symmetry = false;
  const Simulated one = simulate(traffic, size, network, {}), all = simulate(traffic, size, network, {}, full);
  const std::string name = schedule.shape().name + " on " + std::to_string(schedule.shape().num_ranks);
  EXPECT_EQ(one.num_lanes < all.num_lanes, is_smaller) << name;
  EXPECT_NEAR(one.seconds, all.seconds, 1e-9 * all.seconds) << name;
  EXPECT_EQ(one.link_bytes, all.link_bytes) << name;
  for (size_t rank = 0; rank < all.rank_seconds.size(); ++rank)
    EXPECT_NEAR(one.rank_seconds[rank], all.rank_seconds[rank], 1e-9 * all.seconds) << name << ", rank " << rank;
  for (size_t link = 0; link < all.link_busy.size(); ++link)
    EXPECT_NEAR(one.link_busy[link], all.link_busy[link], 1e-9 * all.seconds) << name << ", link " << link;
}

// Of these each rank does the same, but for its number.
TEST(Classes, OneOfEachDoesWhatAllDo) {
  for (const char* name : {"ring", "recursive_doubling", "halving_doubling"})
    for (const int n : {8, 16})
      for (const int channels : {1, 3}) {
        const Schedule schedule = make_schedule(name, Collective::all_reduce, n);
        expect_same(schedule, {size_t{48} * 4096, 4, channels, 0},
                    testing::uniform(Traffic(schedule), 2e9, 1e-6, 1.5e9, 1e10), true);
      }
}

// Trees have hardly two lanes that are alike, but channels with equal chunks are: of chunks of 3001 elements one
// channel has 1001 and two have 1000.
TEST(Classes, OneChannelOfEachKind) {
  for (const char* name : {"double_tree", "tree"}) {
    const Schedule schedule = make_schedule(name, Collective::all_reduce, 13);
    const Traffic traffic(schedule);
    const SimulatedNetwork network = testing::uniform(traffic, 2e9, 1e-6, 1.5e9, 1e10);
    const CallSize size{static_cast<size_t>(schedule.shape().num_chunks) * 3001, 4, 3, 0};
    expect_same(schedule, size, network, true);
    EXPECT_EQ(simulate(traffic, size, network, {}).num_lanes, 2 * traffic.num_lanes()) << name;
    const WireProtocol protocol;
    const PlacedTraffic placed(traffic, size, network, protocol);
    Classes classes = find_classes(placed);
    EXPECT_TRUE(are_stable(placed, classes));
    for (int lane = 0; lane < traffic.num_lanes(); ++lane)  // the channel that differs put with the others
      classes.of_lane[lane] = classes.of_lane[traffic.num_lanes() + lane];
    EXPECT_FALSE(are_stable(placed, classes));
  }
}

// Two hosts of 8 ranks, whose ports are shared by all channels of two rings in opposite directions... here: by
// channels.
TEST(Classes, SharedLinksOfHosts) {
  const Schedule schedule = make_schedule("ring", Collective::all_gather, 16);
  const Traffic traffic(schedule);
  SimulatedNetwork network = testing::uniform(traffic, 2e9, 1e-6);
  const int first = network.num_links();
  for (int i = 0; i < 4; ++i) {  // out of and into each host
    network.link_rate.push_back(1e9);
    network.link_latency.push_back(1e-6);
  }
  network.route_links.clear();
  network.route_offsets = {0};
  for (size_t i = 0; i < network.pair_src.size(); ++i) {
    const int src = network.pair_src[i], dst = network.pair_dst[i];
    network.route_links.push_back(2 * src);
    if (src / 8 != dst / 8)
      network.route_links.insert(network.route_links.end(), {first + src / 8, first + 2 + dst / 8});
    network.route_links.push_back(2 * dst + 1);
    network.route_offsets.push_back(static_cast<int64_t>(network.route_links.size()));
  }
  expect_same(schedule, {size_t{1} << 16, 4, 4, 0}, network, true);
}

TEST(Classes, WhatIsNotAlikeIsNotPutTogether) {
  const Schedule schedule = make_schedule("ring", Collective::all_reduce, 16);
  const SimulatedNetwork uniform = testing::uniform(Traffic(schedule), 2e9, 1e-6);
  expect_same(schedule, {size_t{16} * 4096, 4, 1, 0}, uniform, true);
  expect_same(schedule, {size_t{16} * 4096 + 1, 4, 1, 0}, uniform, false);  // one chunk is longer
  SimulatedNetwork changed = uniform;
  changed.link_rate[5] = 1.9e9;
  expect_same(schedule, {size_t{16} * 4096, 4, 1, 0}, changed, false);
  changed = uniform;
  changed.link_latency[5] = 2e-6;
  expect_same(schedule, {size_t{16} * 4096, 4, 1, 0}, changed, false);
  changed = uniform;
  changed.reduce_rate[3] = 1e9;
  expect_same(schedule, {size_t{16} * 4096, 4, 1, 0}, changed, false);
}

TEST(Classes, WrongColouringsAreFound) {
  const Schedule schedule = make_schedule("ring", Collective::all_reduce, 16);
  const Traffic traffic(schedule);
  SimulatedNetwork network = testing::uniform(traffic, 2e9, 1e-6);
  const WireProtocol protocol;
  const CallSize size{size_t{16} * 4096, 4, 1, 0};
  const auto stable = [&](const SimulatedNetwork& on, const Classes& classes) {
    return are_stable(PlacedTraffic(traffic, size, on, protocol), classes);
  };
  const Classes good = find_classes(PlacedTraffic(traffic, size, network, protocol));
  ASSERT_EQ(good.lanes.size(), 1u);
  EXPECT_TRUE(stable(network, good));
  EXPECT_TRUE(stable(network, distinct(PlacedTraffic(traffic, size, network, protocol))));
  Classes split = good;  // one lane apart, but not what is around it
  split.of_lane[4] = 1;
  split.lanes.push_back(4);
  EXPECT_FALSE(stable(network, split));
  SimulatedNetwork slow_rank = network, slow_link = network, late_link = network;
  slow_rank.reduce_rate[3] = 1e9;
  slow_link.link_rate[5] = 1e9;
  late_link.link_latency[5] = 1;
  EXPECT_FALSE(stable(slow_rank, good));
  EXPECT_FALSE(stable(slow_link, good));
  EXPECT_FALSE(stable(late_link, good));
}

}  // namespace
}  // namespace ringtree
