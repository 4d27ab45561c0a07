// Schedules in which a switch reduces: right on the reference executor, what a rank sends and how many hops it takes by
// the closed form at the top of nvls.cpp, and what they refuse. Their proofs: tests/core/verify/test_switches.cpp.
#include <gtest/gtest.h>

#include "core/algorithms/registry.h"
#include "tests/core/algorithms/reference_run.h"
#include "tests/core/host_groupings.h"
#include "tests/core/sanitized.h"

namespace ringtree {
namespace {

TEST(Nvls, is_right_on_the_reference_executor) {
  for (const Algorithm& algorithm : switch_algorithms())
    for (Collective collective : algorithm.collectives)
      for (int n = 1; n <= 12; ++n) {
        if (!testing::worth_running(n)) continue;
        for (const HostGroups& hosts : testing::groupings(n)) {
          if (hosts.num_hosts() > 1 && !algorithm.for_several_hosts) continue;
          for (bool in_place : {false, true})
            ASSERT_EQ(reference::run(algorithm.make(collective, n, 0, hosts), in_place, 7), "")
                << algorithm.name << " " << collective_name(collective) << ", hosts " << hosts.text();
        }
      }
}

// Up: a part for each owner, its own among them, and the sum of its own shard. The rank itself writes what it sends and
// what it gets: S + S/n up, S/n and S down.
TEST(Nvls, a_rank_sends_its_vector_and_its_shard) {
  for (int n : {2, 3, 8, 32}) {
    const double share = 1.0 / n;
    const Algorithm& nvls = find_algorithm("nvls");
    const CostSummary all_reduce = nvls.cost(Collective::all_reduce, n);
    EXPECT_DOUBLE_EQ(all_reduce.sent, 1 + share);
    EXPECT_DOUBLE_EQ(all_reduce.written, 2 * (1 + share));
    EXPECT_EQ(all_reduce.hops, 4);
    EXPECT_EQ(all_reduce.messages, int64_t{n} * (n + 1 + 1 + n));
    const CostSummary reduce_scatter = nvls.cost(Collective::reduce_scatter, n);
    EXPECT_DOUBLE_EQ(reduce_scatter.sent, 1);
    EXPECT_EQ(reduce_scatter.hops, 2);
    const CostSummary all_gather = nvls.cost(Collective::all_gather, n);
    EXPECT_DOUBLE_EQ(all_gather.sent, share);
    EXPECT_EQ(all_gather.hops, 2);
  }
}

// Between hosts each owner sends what double_tree sends of its shard, and nothing else: two hosts are neighbours in
// both trees, so half of the shard goes up and half down in each, S/k from each owner.
TEST(Nvls, tree_sends_a_vector_between_two_hosts) {
  for (int k : {2, 4, 8}) {
    const HostGroups hosts = HostGroups::blocks(2 * k, k);
    const Schedule schedule = make_schedule("nvls_tree", Collective::all_reduce, 2 * k, 0, hosts);
    const int num_chunks = schedule.shape().num_chunks;
    ASSERT_EQ(num_chunks, 2 * k);
    for (int rank = 0; rank < 2 * k; ++rank) {
      int to_other_host = 0, to_switch = 0;
      const Program program = schedule.program(rank);
      for (const Step& step : program.steps())
        for (int peer : step.send_to) {
          if (schedule.shape().is_switch(peer)) {
            EXPECT_EQ(peer, 2 * k + hosts.host_of(rank));
            to_switch += step.chunks.count;
          } else {
            EXPECT_NE(hosts.host_of(peer), hosts.host_of(rank));
            to_other_host += step.chunks.count;
          }
        }
      EXPECT_EQ(to_other_host, 2) << rank;           // of the 2k chunks: S/k
      EXPECT_EQ(to_switch, num_chunks + 2) << rank;  // S, and its shard
    }
  }
}

TEST(Nvls, a_switch_for_each_host_says_where_it_is) {
  const HostGroups hosts({0, 1, 1, 0, 2});
  const ScheduleShape shape = make_schedule("nvls_tree", Collective::all_reduce, 5, 0, hosts).shape();
  EXPECT_EQ(shape.switches, (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(shape.num_programs(), 8);
  EXPECT_EQ(shape.called(4), "rank 4");
  EXPECT_EQ(shape.called(5), "switch 0");
}

TEST(Nvls, one_switch_is_not_for_two_hosts) {
  try {
    make_schedule("nvls", Collective::all_reduce, 4, 0, HostGroups::blocks(4, 2));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "nvls is for ranks of one switch, and these have 2: for all_reduce nvls_tree goes between them");
  }
}

TEST(Nvls, is_not_among_what_ranks_alone_can_run) {
  for (const Algorithm& of_switch : switch_algorithms())
    for (const Algorithm& algorithm : algorithms()) EXPECT_STRNE(of_switch.name, algorithm.name);
}

}  // namespace
}  // namespace ringtree
