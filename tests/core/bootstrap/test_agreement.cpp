// agree() on made-up identities: what is one communicator and what is not, and that the message is the same on every
// rank. The same through a real mesh is in test_mesh.cpp.
#include "core/bootstrap/agreement.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

std::vector<PeerIdentity> three_ranks() {
  std::vector<PeerIdentity> ranks(3);
  for (int rank = 0; rank < 3; ++rank) {
    ranks[rank].rank = rank;
    ranks[rank].world_size = 3;
    ranks[rank].pid = 100 + rank;
    ranks[rank].host_name = "node" + std::to_string(rank);
    ranks[rank].boot_id = "boot";
    ranks[rank].settings = "algorithm=ring";
  }
  return ranks;
}

std::string verdict(const std::function<void(std::vector<PeerIdentity>&)>& change) {
  std::vector<PeerIdentity> ranks = three_ranks();
  change(ranks);
  return outcome_of([&] { agree(ranks); });
}

TEST(Agreement, equal_ranks_agree_whatever_their_names) {
  EXPECT_EQ(verdict([](auto&) {}), "");
  EXPECT_EQ(verdict([](auto& ranks) { ranks[1].pid_namespace = 7; }), "");
}

TEST(Agreement, settings_name_both_sides) {
  EXPECT_EQ(
      verdict([](auto& ranks) { ranks[2].settings = "algorithm=tree"; }),
      "mismatch: the ranks' settings differ: rank 0 (pid 100 on node0) has 'algorithm=ring', rank 2 (pid 102 on node2) "
      "has 'algorithm=tree': start all ranks with the same settings");
}

TEST(Agreement, long_settings_show_where_they_differ_in_one_clean_line) {
  const auto long_settings = [](const char* threads) {
    std::string text(5000, 'x');
    text.append(threads).append(5000, 'y');
    return text;
  };
  const std::string four = long_settings("threads=4\n"), eight = long_settings("threads=8\n");
  const std::string outcome = verdict([&](auto& ranks) {
    for (PeerIdentity& rank : ranks) rank.settings = four;
    ranks[1].settings = eight;
  });
  EXPECT_TRUE(contains(outcome, "xthreads=4\\x0ay")) << outcome;
  EXPECT_TRUE(contains(outcome, "xthreads=8\\x0ay")) << outcome;
  EXPECT_EQ(outcome.find('\n'), std::string::npos);
  EXPECT_LT(outcome.size(), 600u);
  // One is the beginning of the other: the difference is behind its end.
  const std::string longer = verdict([](auto& ranks) { ranks[1].settings += std::string(1000, 'z'); });
  EXPECT_TRUE(contains(longer, "'algorithm=ring'") && contains(longer, "'algorithm=ringzzz")) << longer;
}

TEST(Agreement, ranks_of_one_host_run_as_one_user) {
  EXPECT_TRUE(contains(verdict([](auto& ranks) { ranks[2].uid = 7; }),
                       "rank 0 (pid 100 on node0) and rank 2 (pid 102 on node2) run as users 0 and 7"));
  for (const auto& move_away : std::vector<std::function<void(PeerIdentity&)>>{
           [](PeerIdentity& rank) { rank.boot_id = "other"; }, [](PeerIdentity& rank) { rank.network_namespace = 7; },
           [](PeerIdentity& rank) { rank.host_id = "rack 2"; }})
    EXPECT_EQ(verdict([&](auto& ranks) {
                ranks[2].uid = 7;
                move_away(ranks[2]);
              }),
              "");
}

TEST(Agreement, what_needs_one_host_is_refused_on_several_alike_on_every_rank) {
  std::vector<PeerIdentity> ranks = three_ranks();
  EXPECT_EQ(outcome_of([&] { agree(ranks, "one host only"); }), "");
  ranks[2].boot_id = "other";
  EXPECT_EQ(outcome_of([&] { agree(ranks, "one host only"); }), "usage: one host only");
  EXPECT_EQ(outcome_of([&] { agree(ranks); }), "");
}

TEST(Agreement, hosts_are_numbered_by_their_first_rank) {
  std::vector<PeerIdentity> ranks = three_ranks();
  EXPECT_EQ(hosts_of(ranks), (std::vector<int>{0, 0, 0}));
  ranks[1].boot_id = "other";
  EXPECT_EQ(hosts_of(ranks), (std::vector<int>{0, 1, 0}));
  ranks[0].network_namespace = 7;
  EXPECT_EQ(hosts_of(ranks), (std::vector<int>{0, 1, 2}));
}

TEST(Agreement, world_sizes_read_the_same_from_both_sides) {
  std::vector<PeerIdentity> ranks = three_ranks();
  ranks[1].world_size = 4;
  EXPECT_EQ(outcome_of([&] { agree_on_world_size(ranks[0], ranks[2]); }), "");
  const std::string from_0 = outcome_of([&] { agree_on_world_size(ranks[0], ranks[1]); });
  EXPECT_TRUE(contains(from_0, "rank 0 (pid 100 on node0) has 3, rank 1 (pid 101 on node1) has 4")) << from_0;
  EXPECT_EQ(outcome_of([&] { agree_on_world_size(ranks[1], ranks[0]); }), from_0);
}

}  // namespace
}  // namespace ringtree::testing
