// Small cases whose times, accounts and links are worked out by hand, and what is refused.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "core/algorithms/registry.h"
#include "tests/core/simulate/networks.h"

namespace ringtree {
namespace {

using testing::kForEver;

double sum(const Accounts& a) { return a.launch + a.latency + a.link + a.copy + a.reduce + a.slots; }

/// One slice of `bytes`, or slices of `slice`.
Simulated run(const Schedule& schedule, size_t bytes, const SimulatedNetwork& network, WireProtocol protocol = {},
              int channels = 1) {
  const Simulated out = simulate(Traffic(schedule), {bytes, 1, channels, protocol.slot_data()}, network, protocol);
  EXPECT_NEAR(sum(out.limit), out.seconds, 1e-12);
  return out;
}

// 1000 bytes of data are 2000 on the wire at 1 GB/s: 2 us. Then 5 us on both links and 1 us of the protocol's.
TEST(Simulate, OneMessage) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  SimulatedNetwork network = testing::uniform(Traffic(schedule), 1e9, 5e-6);
  network.launch_cost = 10e-6;
  WireProtocol protocol;
  protocol.efficiency = 0.5;
  protocol.step_latency = 1e-6;
  const Simulated out = run(schedule, 1000, network, protocol);
  EXPECT_NEAR(out.seconds, 18e-6, 1e-12);
  EXPECT_NEAR(out.rank_seconds[0], 10e-6, 1e-12);
  EXPECT_NEAR(out.rank_seconds[1], 18e-6, 1e-12);
  EXPECT_NEAR(out.limit.launch, 10e-6, 1e-12);
  EXPECT_NEAR(out.limit.latency, 6e-6, 1e-12);
  EXPECT_NEAR(out.limit.link, 2e-6, 1e-12);
  EXPECT_EQ(out.link_bytes, (std::vector<int64_t>{2000, 0, 0, 2000}));
  EXPECT_NEAR(out.link_busy[0], 2e-6, 1e-12);
  EXPECT_EQ(out.link_busy[1], 0);
}

// Two messages leave rank 0: one is copied at 1 byte/ns, the other gets the 3 that are left of the port's 4. 3000 bytes
// take 1 us; the first one's 2000 bytes left then take 2 us more.
TEST(Simulate, WhatOneLeavesTheOtherGets) {
  const Schedule schedule = testing::messages(3, {{0, 1}, {0, 2}});
  SimulatedNetwork network = testing::uniform(Traffic(schedule), 4e9, 0);
  network.copy_rate[1] = 1e9;
  const Simulated out = run(schedule, 3000, network);
  EXPECT_NEAR(out.rank_seconds[1], 3e-6, 1e-12);
  EXPECT_NEAR(out.rank_seconds[2], 1e-6, 1e-12);
  EXPECT_NEAR(out.limit.copy, 3e-6, 1e-12);
  EXPECT_NEAR(out.link_busy[0], 3e-6, 1e-12);
}

// Rank 0's port is shared by two messages of 1000 bytes, at 0.5 bytes/ns each: 2 us, put down to link 0.
TEST(Simulate, SharedLinkIsTheLimit) {
  const Schedule schedule = testing::messages(3, {{0, 1}, {0, 2}});
  const Simulated out = run(schedule, 1000, testing::uniform(Traffic(schedule), 1e9, 0));
  EXPECT_NEAR(out.seconds, 2e-6, 1e-12);
  ASSERT_EQ(out.limit.links.size(), 1u);
  EXPECT_EQ(out.limit.links[0].first, 0);
  EXPECT_NEAR(out.limit.links[0].second, 2e-6, 1e-12);
}

// Messages of one connection cross in order, one at a time: two slices of 64 KB at 64 KB/ms.
TEST(Simulate, SlicesOfOneConnectionCrossInOrder) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  const Simulated out = run(schedule, 2 * kSlotBytes, testing::uniform(Traffic(schedule), kSlotBytes * 1e3, 1e-3));
  EXPECT_NEAR(out.seconds, 3e-3, 1e-12);
  EXPECT_EQ(out.num_events, 6);  // two slices sent, two crossings, two slices received
}

// A slot is freed when it is read, 1 ms after its slice has crossed in next to no time. With 2 slots, of 4 slices a
// pair arrives each millisecond.
TEST(Simulate, TooFewSlotsAreTheLimit) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  WireProtocol protocol;
  protocol.slots = 2;
  const Simulated out = run(schedule, 4 * kSlotBytes, testing::uniform(Traffic(schedule), 1e18, 1e-3), protocol);
  EXPECT_NEAR(out.seconds, 2e-3, 1e-9);
  EXPECT_NEAR(out.limit.slots, 1e-3, 1e-9);
  EXPECT_NEAR(out.limit.latency, 1e-3, 1e-9);
  protocol.slots = 4;
  const Simulated more = run(schedule, 4 * kSlotBytes, testing::uniform(Traffic(schedule), 1e18, 1e-3), protocol);
  EXPECT_NEAR(more.seconds, 1e-3, 1e-9);
  EXPECT_EQ(more.limit.slots, 0);
}

// Every chunk crosses every link of a ring, so the slow one holds up all: of the 2(n-1) chunks that cross it, each
// waits for the one before.
TEST(Simulate, LinkAtHalfItsRateIsFound) {
  constexpr int kRanks = 8;
  constexpr size_t kBytes = size_t{1} << 20;
  const Schedule schedule = make_schedule("ring", Collective::all_reduce, kRanks);
  const SimulatedNetwork whole = testing::uniform(Traffic(schedule), 1e9, 1e-6);
  const double before = run(schedule, kBytes, whole).seconds;
  for (const int slow : {0, 7, 10}) {
    SimulatedNetwork network = whole;
    network.link_rate[slow] /= 2;
    const Simulated out = run(schedule, kBytes, network);
    ASSERT_FALSE(out.limit.links.empty());
    EXPECT_EQ(out.limit.links[0].first, slow);
    EXPECT_GT(out.limit.links[0].second, 0.9 * out.seconds);
    EXPECT_NEAR(out.seconds, 2 * before, 0.05 * before);
  }
}

// A fold of two operands takes bytes / rate, of three twice that; a copy within the rank bytes / copy rate.
TEST(Simulate, FoldsAndCopiesTakeTime) {
  const Schedule star = make_schedule("one_shot", Collective::all_reduce, 3);
  const Simulated folded = run(star, 1000, testing::uniform(Traffic(star), kForEver, 0, kForEver, 1e9));
  EXPECT_NEAR(folded.limit.reduce, 2e-6, 1e-12);
  EXPECT_NEAR(folded.seconds, 2e-6, 1e-12);
  const Schedule alone = make_schedule("ring", Collective::all_reduce, 1);
  const Simulated copied = run(alone, 1000, testing::uniform(Traffic(alone), 1, 0, 1e9));
  EXPECT_NEAR(copied.limit.copy, 1e-6, 1e-12);
}

// A vector that is nothing still sends its empty messages: 2(n-1) latencies.
TEST(Simulate, NoBytes) {
  const Schedule schedule = make_schedule("ring", Collective::all_reduce, 4);
  const Simulated out = run(schedule, 0, testing::uniform(Traffic(schedule), 1e9, 1e-6));
  EXPECT_NEAR(out.seconds, 6e-6, 1e-12);
  EXPECT_NEAR(out.limit.latency, 6e-6, 1e-12);
}

// Channels share ports: twice as many with half the bytes each take as long, but for copying, of which there is twice
// as much.
TEST(Simulate, ChannelsShareLinksAndCopyEach) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  const Traffic traffic(schedule);
  EXPECT_NEAR(run(schedule, 8000, testing::uniform(traffic, 1e9, 0), {}, 1).seconds, 8e-6, 1e-12);
  EXPECT_NEAR(run(schedule, 8000, testing::uniform(traffic, 1e9, 0), {}, 4).seconds, 8e-6, 1e-12);
  EXPECT_NEAR(run(schedule, 8000, testing::uniform(traffic, 1e9, 0, 1e8), {}, 1).seconds, 80e-6, 1e-12);
  EXPECT_NEAR(run(schedule, 8000, testing::uniform(traffic, 1e9, 0, 1e8), {}, 4).seconds, 20e-6, 1e-12);
}

TEST(Simulate, TwiceTheSame) {
  const Schedule schedule = make_schedule("double_tree", Collective::all_reduce, 13);
  const SimulatedNetwork network = testing::uniform(Traffic(schedule), 3e9, 1e-6, 1e10, 1e10);
  const Simulated one = run(schedule, 1 << 20, network, {}, 3), other = run(schedule, 1 << 20, network, {}, 3);
  EXPECT_EQ(one.rank_seconds, other.rank_seconds);
  EXPECT_EQ(one.link_busy, other.link_busy);
  EXPECT_EQ(one.limit.links, other.limit.links);
}

template <class Change>
std::string refused(Change change) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  SimulatedNetwork network = testing::uniform(Traffic(schedule), 1e9, 1e-6);
  WireProtocol protocol;
  CallSize size{1000, 4, 1, 0};
  change(network, protocol, size);
  try {
    simulate(Traffic(schedule), size, network, protocol);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Simulate, WhatCannotBeIsRefused) {
  const auto network = [](auto change) {
    return refused([&](SimulatedNetwork& of, WireProtocol&, CallSize&) { change(of); });
  };
  EXPECT_EQ(network([](SimulatedNetwork& of) { of.link_rate[2] = 0; }),
            "network: link_rate[2] is 0.000000: rates must be above 0");
  EXPECT_EQ(network([](SimulatedNetwork& of) { of.pair_src = {1}, of.pair_dst = {0}; }),
            "network: no route 0 -> 1, which messages needs");
  EXPECT_EQ(network([](SimulatedNetwork& of) { of.route_links[0] = 4; }),
            "network: route 0 -> 1: link 4 of 4 does not exist");
  EXPECT_EQ(network([](SimulatedNetwork& of) { of.route_links[1] = 0; }),
            "network: route 0 -> 1: crosses link 0 twice");
  EXPECT_EQ(network([](SimulatedNetwork& of) { of.pair_dst = {2}; }), "network: route 0 -> 2: there are 2 ranks");
  EXPECT_EQ(network([](SimulatedNetwork& of) { of.link_latency[1] = -1; }),
            "network: link_latency[1] is -1.000000: latencies must be 0 or more seconds");
  EXPECT_NE(network([](SimulatedNetwork& of) { of.route_offsets = {0}; }), "accepted");
  EXPECT_NE(network([](SimulatedNetwork& of) { of.link_latency.pop_back(); }), "accepted");
  EXPECT_NE(network([](SimulatedNetwork& of) { of.copy_rate.pop_back(); }), "accepted");
  EXPECT_NE(refused([](SimulatedNetwork&, WireProtocol& of, CallSize&) { of.slots = 1; }), "accepted");
  EXPECT_NE(refused([](SimulatedNetwork&, WireProtocol& of, CallSize&) { of.efficiency = 1.5; }), "accepted");
  EXPECT_NE(refused([](SimulatedNetwork&, WireProtocol& of, CallSize&) { of.slot_bytes = 100; }), "accepted");
  EXPECT_NE(refused([](SimulatedNetwork&, WireProtocol&, CallSize& of) { of.num_channels = 0; }), "accepted");
  EXPECT_EQ(refused([](SimulatedNetwork&, WireProtocol&, CallSize&) {}), "accepted");
}

TEST(Simulate, ScheduleThatWaitsForEverIsRefused) {
  const Schedule stuck(ScheduleShape{"stuck", Collective::all_reduce, 2, 0, 1, 1, {}}, [](ProgramBuilder& builder) {
    const int other = 1 - builder.rank();
    Step take;
    take.verb = Verb::recv;
    take.recv = {{other, 0}};
    take.dst = kOutput;
    Step give;
    give.verb = Verb::send;
    give.src = kInput;
    give.send_to = {other};
    builder.add(take).add(give);  // both wait first
  });
  const Traffic traffic(stuck);
  EXPECT_THROW(simulate(traffic, {10, 4, 1, 0}, testing::uniform(traffic, 1e9, 0), {}), UsageError);
}

}  // namespace
}  // namespace ringtree
