// Compositions on hosts of all kinds: right on the reference executor, multicasts inside hosts only, between hosts only
// what the outer algorithm sends.
#include <gtest/gtest.h>

#include <numeric>

#include "core/algorithms/registry.h"
#include "tests/core/algorithms/reference_run.h"
#include "tests/core/host_groupings.h"
#include "tests/core/sanitized.h"

namespace ringtree {
namespace {

/// Calls `check` with every composition, collective and grouping of up to `most` ranks.
template <class Check>
void for_all(int most, const Check& check) {
  int num_checked = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.compose) continue;
    for (Collective collective : algorithm.collectives)
      for (int n = 1; n <= most; ++n) {
        if (!testing::worth_running(n)) continue;
        for (const HostGroups& hosts : testing::groupings(n)) {
          check(algorithm, collective, hosts);
          if (::testing::Test::HasFatalFailure()) return;
          ++num_checked;
        }
      }
  }
  EXPECT_GT(num_checked, 500);
}

std::string what(const Algorithm& algorithm, Collective collective, const HostGroups& hosts) {
  return std::string(algorithm.name) + " " + collective_name(collective) + ", hosts " + hosts.text();
}

TEST(Hierarchical, is_right_on_the_reference_executor) {
  for_all(14, [](const Algorithm& algorithm, Collective collective, const HostGroups& hosts) {
    const int n = hosts.num_ranks();
    const std::vector<int> roots = has_root(collective) ? std::vector<int>{0, n / 2, n - 1} : std::vector<int>{0};
    for (int root : roots)
      for (bool in_place : {false, true})
        ASSERT_EQ(reference::run(algorithm.make(collective, n, root, hosts), in_place, 11), "")
            << what(algorithm, collective, hosts) << ", root " << root << (in_place ? ", in place" : ", out of place");
  });
}

// A slot with several readers is shared memory; between hosts each message has one.
TEST(Hierarchical, multicasts_stay_inside_a_host) {
  int num_multicasts = 0;
  for_all(24, [&](const Algorithm& algorithm, Collective collective, const HostGroups& hosts) {
    const Schedule schedule = algorithm.make(collective, hosts.num_ranks(), 0, hosts);
    for (int rank = 0; rank < hosts.num_ranks(); ++rank) {
      const Program program = schedule.program(rank);
      for (const Step& step : program.steps()) {
        if (step.send_to.size() < 2) continue;
        ++num_multicasts;
        for (int peer : step.send_to)
          ASSERT_EQ(hosts.host_of(peer), hosts.host_of(rank)) << what(algorithm, collective, hosts);
      }
    }
  });
  EXPECT_GT(num_multicasts, 100);
}

TEST(Hierarchical, between_hosts_only_owners_of_one_shard_talk) {
  for_all(24, [](const Algorithm& algorithm, Collective collective, const HostGroups& hosts) {
    const Schedule schedule = algorithm.make(collective, hosts.num_ranks(), 0, hosts);
    for (int rank = 0; rank < hosts.num_ranks(); ++rank) {
      const Program program = schedule.program(rank);
      for (const Step& step : program.steps())
        for (int peer : step.send_to) {
          if (hosts.host_of(peer) == hosts.host_of(rank)) continue;
          ASSERT_EQ(hosts.local_index(peer), hosts.local_index(rank)) << what(algorithm, collective, hosts);
          ASSERT_LT(hosts.local_index(rank), hosts.smallest()) << what(algorithm, collective, hosts);
        }
    }
  });
}

TEST(Hierarchical, declares_the_widest_step_exactly) {
  for_all(12, [](const Algorithm& algorithm, Collective collective, const HostGroups& hosts) {
    const Schedule schedule = algorithm.make(collective, hosts.num_ranks(), 0, hosts);
    int widest = 0;
    for (int rank = 0; rank < hosts.num_ranks(); ++rank) {
      const Program program = schedule.program(rank);
      for (const Step& step : program.steps()) widest = std::max(widest, step.chunks.count);
    }
    ASSERT_EQ(widest, schedule.shape().widest) << what(algorithm, collective, hosts);
  });
}

/// What each host sends to other hosts, as a share of the whole vector.
std::vector<double> sent_by_hosts(const char* name, Collective collective, const HostGroups& hosts, int root = 0) {
  const Schedule schedule = make_schedule(name, collective, hosts.num_ranks(), root, hosts);
  std::vector<double> sent(static_cast<size_t>(hosts.num_hosts()), 0.0);
  for (int rank = 0; rank < hosts.num_ranks(); ++rank) {
    const Program program = schedule.program(rank);
    for (const Step& step : program.steps())
      for (int peer : step.send_to)
        if (hosts.host_of(peer) != hosts.host_of(rank))
          sent[static_cast<size_t>(hosts.host_of(rank))] += step.chunks.count;
  }
  for (double& share : sent) share /= schedule.shape().num_chunks;
  return sent;
}

// As much as the outer algorithm sends among 4 ranks, whatever the number of ranks a host: a ring of 4 sends 2 · 3/4 of
// the vector from each rank, each half of it 3/4; so do halving and doubling (1/2 + 1/4, twice), and PAT is a half.
TEST(Hierarchical, a_network_card_carries_what_the_outer_algorithm_sends) {
  for (int ranks_per_host : {1, 2, 3, 8}) {
    const HostGroups blocks = HostGroups::blocks(4 * ranks_per_host, ranks_per_host);
    for (const HostGroups& hosts : {blocks, testing::shuffled(blocks, 5)}) {
      for (const char* name : {"hierarchical_ring", "hierarchical_halving_doubling"})
        for (double sent : sent_by_hosts(name, Collective::all_reduce, hosts)) EXPECT_NEAR(sent, 1.5, 1e-12) << name;
      for (const char* name : {"hierarchical_ring", "hierarchical_pat"})
        for (Collective half : {Collective::reduce_scatter, Collective::all_gather})
          for (double sent : sent_by_hosts(name, half, hosts)) EXPECT_NEAR(sent, 0.75, 1e-12) << name;
    }
  }
}

// Of 8 hosts an inner one of one tree, there with two children, is a leaf of the other: half of the vector goes up
// twice and down twice (two messages, as there is no slot that two hosts read); a root has one child: 1/2 down and 1/2
// up.
TEST(Hierarchical, two_trees_load_network_cards_alike) {
  std::vector<double> sent = sent_by_hosts("hierarchical_tree", Collective::all_reduce, HostGroups::blocks(16, 2));
  std::sort(sent.begin(), sent.end());
  EXPECT_EQ(sent.front(), 1);
  EXPECT_EQ(sent.back(), 2);
  EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), 0.0), 14);  // 2 (H-1) edges, each used up and down, half a vector
}

// A heap tree of 3 hosts: the root's host sends the vector to two others, or each other host sends it once.
TEST(Hierarchical, broadcast_and_reduce_cross_the_network_once_a_host) {
  const HostGroups hosts({0, 1, 1, 2, 0, 2, 2});
  using Shares = std::vector<double>;
  EXPECT_EQ(sent_by_hosts("hierarchical_tree", Collective::broadcast, hosts, 4), (Shares{2, 0, 0}));
  EXPECT_EQ(sent_by_hosts("hierarchical_tree", Collective::broadcast, hosts, 6), (Shares{0, 0, 2}));
  EXPECT_EQ(sent_by_hosts("hierarchical_tree", Collective::reduce, hosts, 2), (Shares{1, 0, 1}));
}

// Every host of a reduce_scatter must still send every block of other hosts once, so unequal hosts send unequal shares:
// of 6 blocks, 3 are on host 0, 2 on host 1, 1 on host 2. In a ring a block starts at the host after its own.
TEST(Hierarchical, unequal_hosts_send_the_blocks_of_the_others_once) {
  const HostGroups hosts({0, 0, 0, 1, 1, 2});
  for (const char* name : {"hierarchical_ring", "hierarchical_pat"}) {
    const std::vector<double> sent = sent_by_hosts(name, Collective::reduce_scatter, hosts);
    EXPECT_NEAR(sent[0], 3.0 / 6, 1e-12) << name;
    EXPECT_NEAR(sent[1], 4.0 / 6, 1e-12) << name;
    EXPECT_NEAR(sent[2], 5.0 / 6, 1e-12) << name;
  }
}

TEST(Hierarchical, a_host_is_folded_in_rank_order) {
  const HostGroups hosts({0, 1, 0, 1, 0, 1});
  const Program program = make_schedule("hierarchical_ring", Collective::all_reduce, 6, 0, hosts).program(2);
  int folds = 0;
  for (const Step& step : program.steps()) {
    if (step.recv.size() < 2) continue;
    ++folds;
    EXPECT_EQ(step.recv, (std::vector<Endpoint>{{0, 0}, {4, 0}}));
    EXPECT_EQ(step.src, kInput);
    EXPECT_EQ(step.src_at, 1);
  }
  EXPECT_EQ(folds, 2);  // the ring's chunks one by one
}

TEST(Hierarchical, is_the_outer_algorithm_where_every_rank_has_a_host_of_its_own) {
  for (int n : {2, 5, 8}) {
    const HostGroups apart = HostGroups::blocks(n, 1);
    for (Collective collective : {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
      const Schedule composed = make_schedule("hierarchical_ring", collective, n, 0, apart);
      const Schedule ring = make_schedule("ring", collective, n);
      for (int rank = 0; rank < n; ++rank) EXPECT_EQ(composed.program(rank).steps(), ring.program(rank).steps());
    }
  }
}

TEST(Hierarchical, refuses_hosts_of_other_ranks) {
  EXPECT_THROW(make_schedule("hierarchical_ring", Collective::all_reduce, 4, 0, HostGroups::blocks(6, 2)), UsageError);
}

}  // namespace
}  // namespace ringtree
