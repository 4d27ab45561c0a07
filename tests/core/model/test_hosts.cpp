// What the model says of compositions on 4 hosts x 4 ranks, by arithmetic that is done by hand, and that `auto` would
// choose them.
//
// Notation: a = alpha; s = the time in which one sixteenth of the vector leaves a host, one slice; a >= 6s, so that a
// card has sent what its four owners have for one round before the next round's messages arrive.
//
// ring, flat, blocks: only ranks 3, 7, 11, 15 send to another host, 30 messages of a sixteenth each. Message i of such
// a rank is message i-3 of the first rank of its host, which adds to what it got as message i-4 from the host before:
// messages 0 to 3 leave at 0, s, 2s, 3s, each later one a + s after the one four before it. Message 29 = 4·7 + 1
// leaves at 7(a + s) + s and arrives at 8(a + s) + s:                                                      8a + 9s
// hierarchical_ring: shard j is a quarter, the ring of 4 sends 6 messages of a quarter of that, a sixteenth, each a + s
// after the one before. The four owners of a host begin one after the other, at 0, s, 2s, 3s: 3s + 6(a + s) = 6a + 9s
// hierarchical_halving_doubling: 4 rounds of 2, 1, 1, 2 sixteenths. Owner j's first message leaves at 2sj; from then on
// no card is busy when a message is ready, as owners stay 2s apart: 6s + (a+2s) + (a+s) + (a+s) + (a+2s) = 4a + 12s
// hierarchical_tree (double_tree, 4 hosts, each tree has half of a shard, a thirty-second of the vector, s/2): 2⌈log₂
// 4⌉ = 4 hops, so 4a and some s.
//
// all_gather of 16 blocks, each of which leaves in s:
// ring, flat: 15 messages; message 14 = 4·3 + 2 leaves at 3(a + s) + 2s and arrives at 4(a + s) + 2s:      4a + 6s
// hierarchical_pat: round 1 sends the owner's block: owner j's arrives at a + (j+1)s. Round 2 sends two blocks, 2s
// each, from a + s on without a pause for the four owners: a + s + 4·2s + a:                                     2a +
// 9s
//
// Large vectors: a card that sends b bytes takes b/beta at least. Flat ring 30/16 S, hierarchical_ring 4 · 6/16 =
// 24/16.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/algorithms/registry.h"
#include "core/model/estimate.h"
#include "core/model/recurrence.h"
#include "tests/core/host_groupings.h"

namespace ringtree {
namespace {

constexpr size_t kSixteenth = 2048;  // bytes: two of them are one slice
constexpr HostLinks kSlow{1e-3, static_cast<double>(kSixteenth) / 1e-5};
constexpr double kA = kSlow.alpha_s, kS = 1e-5, kAlmostNothing = 1e-12;

double seconds_of(const char* name, Collective collective, size_t bytes, const HostGroups& hosts,
                  const HostLinks& links) {
  const size_t count = bytes / (has_blocks(collective) ? static_cast<size_t>(hosts.num_ranks()) : 1);
  return time_schedule(make_schedule(name, collective, hosts.num_ranks(), 0, hosts), count, 1, hosts, links).seconds;
}

double small(const char* name, Collective collective, const HostGroups& hosts = HostGroups::blocks(16, 4)) {
  return seconds_of(name, collective, 16 * kSixteenth, hosts, kSlow);
}

TEST(Hosts, SmallAllReduceByHand) {
  EXPECT_NEAR(small("ring", Collective::all_reduce), 8 * kA + 9 * kS, kAlmostNothing);
  EXPECT_NEAR(small("hierarchical_ring", Collective::all_reduce), 6 * kA + 9 * kS, kAlmostNothing);
  EXPECT_NEAR(small("hierarchical_halving_doubling", Collective::all_reduce), 4 * kA + 12 * kS, kAlmostNothing);
  const double tree = small("hierarchical_tree", Collective::all_reduce);
  EXPECT_GT(tree, 4 * kA);
  EXPECT_LT(tree, 4 * kA + 32 * kS);  // each card sends at most two vectors
}

TEST(Hosts, SmallAllGatherByHand) {
  EXPECT_NEAR(small("ring", Collective::all_gather), 4 * kA + 6 * kS, kAlmostNothing);
  EXPECT_NEAR(small("hierarchical_pat", Collective::all_gather), 2 * kA + 9 * kS, kAlmostNothing);
}

// A composition goes by who lives where, not by rank numbers: the same times where ranks are dealt out in turn. The
// flat ring then crosses with every message: 30 steps in which each card sends four sixteenths, one after the other.
TEST(Hosts, CompositionsDoNotMindHowRanksAreNumbered) {
  const HostGroups in_turn = testing::round_robin(16, 4);
  for (const char* name : {"hierarchical_ring", "hierarchical_halving_doubling"})
    EXPECT_NEAR(small(name, Collective::all_reduce, in_turn), small(name, Collective::all_reduce), kAlmostNothing)
        << name;
  EXPECT_GT(small("ring", Collective::all_reduce, in_turn), 30 * kA);
}

TEST(Hosts, LargeVectorsTakeWhatTheBusiestCardSends) {
  const HostGroups hosts = HostGroups::blocks(16, 4);
  const size_t bytes = size_t{64} << 20;
  const HostLinks links{25e-6, 1.25e9};
  const double once = static_cast<double>(bytes) / links.beta_Bps;
  const auto expect_about = [&](const char* name, Collective collective, double vectors) {
    const double seconds = seconds_of(name, collective, bytes, hosts, links);
    EXPECT_GE(seconds, vectors * once) << name;
    EXPECT_LE(seconds, 1.05 * vectors * once) << name;
  };
  expect_about("ring", Collective::all_reduce, 30.0 / 16);
  expect_about("hierarchical_ring", Collective::all_reduce, 24.0 / 16);
  expect_about("ring", Collective::all_gather, 15.0 / 16);
  expect_about("hierarchical_ring", Collective::all_gather, 12.0 / 16);
}

std::vector<Schedule> candidates(Collective collective, const HostGroups& hosts) {
  std::vector<Schedule> schedules;
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.is_candidate(collective, hosts))
      schedules.push_back(algorithm.make(collective, hosts.num_ranks(), 0, hosts));
  return schedules;
}

TEST(Hosts, TheChoiceSaysWhereAndWhy) {
  const HostGroups hosts({0, 0, 1, 1, 1});
  const std::vector<Schedule> schedules = candidates(Collective::all_reduce, hosts);
  const Choice choice = choose_on_hosts(schedules, 1000, 4, hosts, {25e-6, 1.25e9}, {});
  for (size_t i = 0; i < schedules.size(); ++i) {
    EXPECT_EQ(choice.seconds[i], time_schedule(schedules[i], 1000, 4, hosts, {25e-6, 1.25e9}).seconds);
    EXPECT_GE(choice.seconds[i], choice.seconds[static_cast<size_t>(choice.index)]);
    EXPECT_NE(choice.reason.find(schedules[i].shape().name), std::string::npos) << choice.reason;
  }
  const std::string where =
      "(2 hosts of 2, 3 ranks, links of 25 us and 1.25 GB/s, 0 us of a core a message, "
      "1000 elements of 4 bytes)";
  EXPECT_NE(choice.reason.find(where), std::string::npos) << choice.reason;
  // Two ranks to a core at 1 ns a byte: three quarters of 1 GB/s.
  const std::string capped =
      choose_on_hosts(schedules, 1000, 4, hosts, {25e-6, 1.25e9}, {.byte_s = 1e-9, .ranks_per_core = 2}).reason;
  EXPECT_NE(capped.find("links of 25 us and 1.25 GB/s (shared cores feed 0.75 GB/s), 0 us"), std::string::npos)
      << capped;
  EXPECT_THROW(choose_on_hosts({}, 1, 4, hosts, default_host_links(), {}), UsageError);
}

// In a ring each rank has a link to the next one, in two_shot to all others; for long vectors both send the same bytes.
TEST(Hosts, OfEqualsTheOneWithFewerLinksIsChosen) {
  const HostGroups hosts = HostGroups::blocks(4, 1);
  const auto choose = [&](size_t count, const std::vector<std::string>& names) {
    std::vector<Schedule> schedules;
    for (const std::string& name : names) schedules.push_back(make_schedule(name, Collective::all_reduce, 4, 0, hosts));
    const Choice choice = choose_on_hosts(schedules, count, 4, hosts, {25e-6, 1.25e9}, default_message_work(2));
    EXPECT_EQ(choice.reason.ends_with("; ring has the fewest links of those within 3 %"), count > 1000)
        << choice.reason;
    return std::pair(names[static_cast<size_t>(choice.index)], choice.seconds[1] / choice.seconds[0]);
  };
  const auto [of_long, ratio] = choose(4 << 20, {"ring", "two_shot"});
  EXPECT_LT(ratio, 1);
  EXPECT_GT(ratio, 0.97);
  EXPECT_EQ(of_long, "ring");
  EXPECT_EQ(choose(4 << 20, {"two_shot", "ring"}).first, "ring");
  EXPECT_EQ(choose(1000, {"ring", "two_shot"}).first, "two_shot");  // latency: two hops, not six
}

// By hand, on 4 hosts of one rank: in one_shot each rank sends 3 messages and receives 3, 12 in all; in naive rank 0
// does so, 6 in all. Where two ranks share a core, its messages are half of all. Each has all 8 bytes of the vector.
TEST(Hosts, MessagesCostTheBusiestCore) {
  const HostGroups hosts = HostGroups::blocks(4, 1);
  const std::vector<Schedule> schedules{make_schedule("one_shot", Collective::all_reduce, 4, 0, hosts),
                                        make_schedule("naive", Collective::all_reduce, 4, 0, hosts)};
  const HostLinks links{25e-6, 1.25e9};
  const auto seconds = [&](const MessageWork& work) {
    return choose_on_hosts(schedules, 2, 4, hosts, links, work).seconds;
  };
  // A fifth of what the links take, microseconds, is not hidden behind the cores' work.
  const std::vector<double> by_links = seconds({});
  const auto expect = [&](const MessageWork& work, double one_shot, double naive) {
    const std::vector<double> found = seconds(work);
    EXPECT_NEAR(found[0], one_shot + 0.2 * by_links[0], 1e-9);
    EXPECT_NEAR(found[1], naive + 0.2 * by_links[1], 1e-9);
  };
  expect({.message_s = 1, .ranks_per_core = 1}, 3, 3);
  expect({.message_s = 1, .ranks_per_core = 2}, 6, 3);
  expect({.byte_s = 1e-3, .ranks_per_core = 1}, 24e-3, 24e-3);
  expect({.message_s = 1, .byte_s = 1e-3, .ranks_per_core = 1}, 3.024, 3.024);
  // And a fifth of their work where the links take longer.
  const std::vector<double> hidden = seconds({.message_s = 1e-6, .ranks_per_core = 2});
  EXPECT_NEAR(hidden[0], by_links[0] + 0.2 * 6e-6, 1e-12);
  EXPECT_NEAR(hidden[1], by_links[1] + 0.2 * 3e-6, 1e-12);
  EXPECT_EQ(choose_on_hosts(schedules, 2, 4, hosts, links, {}).index, 0);
  EXPECT_EQ(choose_on_hosts(schedules, 2, 4, hosts, links, default_message_work(2)).index, 1);
}

// By hand: two hosts with a rank each exchange a vector of 1 MB; cores that are shared move 1.5 GB/s at 0.5 ns a byte.
TEST(Hosts, LinksOfSharedCoresAreNoFasterThanThose) {
  const HostGroups hosts = HostGroups::blocks(2, 1);
  const std::vector<Schedule> one{make_schedule("one_shot", Collective::all_reduce, 2, 0, hosts)};
  const auto seconds = [&](double ranks_per_core) {
    return choose_on_hosts(one, 1 << 20, 1, hosts, {0, 1e12}, {.byte_s = 0.5e-9, .ranks_per_core = ranks_per_core})
        .seconds[0];
  };
  const double once = 1 << 20, cores_s = once * 0.5e-9;  // a half of what a rank sends and of what it receives
  EXPECT_NEAR(seconds(1), cores_s + 0.2 * once / 1e12, 1e-7);
  EXPECT_NEAR(seconds(1.001), once / 1.5e9 + 0.2 * 1.001 * cores_s, 1e-7);
}

// By hand, naive on two hosts: rank 1 sends its vector and receives the sum, each in slices.
TEST(Hosts, SlicesOfAMessageCostOnce) {
  const HostGroups hosts = HostGroups::blocks(2, 1);
  const Schedule schedule = make_schedule("naive", Collective::all_reduce, 2, 0, hosts);
  const Timing timing = time_schedule(schedule, 256 << 10, 1, hosts, {25e-6, 1.25e9});
  EXPECT_GT(timing.num_transmissions, 2);
  for (const NetworkShare& share : timing.rank_network) {
    EXPECT_EQ(share.messages, 2);
    EXPECT_EQ(share.bytes, 2 * (256 << 10));
  }
}

// From 64 KB on. (On blocks of 4 flat halving_doubling does as well: its
// first two rounds stay inside the hosts.)
TEST(Hosts, CompositionsAreChosenOnHostsOfSeveralRanks) {
  for (const HostGroups& hosts : {HostGroups::blocks(12, 3), testing::shuffled(HostGroups::blocks(16, 4), 1)})
    for (Collective collective : {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather})
      for (size_t count : {size_t{1} << 14, size_t{1} << 20}) {
        const std::vector<Schedule> schedules = candidates(collective, hosts);
        const Choice choice =
            choose_on_hosts(schedules, count, 4, hosts, default_host_links(), default_message_work(1));
        const std::string& name = schedules[static_cast<size_t>(choice.index)].shape().name;
        EXPECT_TRUE(find_algorithm(name).compose) << choice.reason;
      }
}

}  // namespace
}  // namespace ringtree
