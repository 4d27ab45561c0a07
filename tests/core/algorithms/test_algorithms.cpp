// Every built-in algorithm, for many numbers of ranks and all roots, on the reference executor: right sums, one
// expression on all ranks, no deadlock with two slots, in place and out of place. And the registry around them.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "core/algorithms/registry.h"
#include "tests/core/algorithms/reference_run.h"
#include "tests/core/sanitized.h"

namespace ringtree {
namespace {

struct Case {
  const Algorithm* algorithm;
  Collective collective;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives) cases.push_back({&algorithm, collective});
  return cases;
}

std::vector<int> roots(Collective collective, int n) {
  if (!has_root(collective) || n == 1) return {0};
  if (n > 9) return {0, n / 2, n - 1};
  std::vector<int> all;
  for (int root = 0; root < n; ++root) all.push_back(root);
  return all;
}

class EveryAlgorithm : public ::testing::TestWithParam<Case> {};

TEST_P(EveryAlgorithm, is_right_on_the_reference_executor) {
  const auto& [algorithm, collective] = GetParam();
  for (int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 23, 24, 31, 32, 33}) {
    if (!testing::worth_running(n)) continue;
    for (int root : roots(collective, n))
      for (bool in_place : {false, true})
        for (uint64_t seed : {1u, 2u})
          ASSERT_EQ(reference::run(algorithm->make(collective, n, root), in_place, seed), "")
              << "n = " << n << ", root " << root << (in_place ? ", in place" : ", out of place") << ", seed " << seed;
  }
}

TEST_P(EveryAlgorithm, has_the_shape_that_was_asked_for) {
  const auto& [algorithm, collective] = GetParam();
  for (int n : {1, 2, 6}) {
    const int root = has_root(collective) ? n - 1 : 0;
    const ScheduleShape shape = make_schedule(algorithm->name, collective, n, root).shape();
    EXPECT_EQ(shape.name, algorithm->name);
    EXPECT_EQ(shape.collective, collective);
    EXPECT_EQ(shape.num_ranks, n);
    EXPECT_EQ(shape.root, root);
  }
}

TEST_P(EveryAlgorithm, declares_the_widest_step_exactly) {
  const auto& [algorithm, collective] = GetParam();
  for (int n = 1; n <= 33; ++n) {
    if (!testing::worth_running(n)) continue;
    const Schedule schedule = algorithm->make(collective, n, 0);
    int widest = 0;
    for (int rank = 0; rank < n; ++rank) {
      const Program program = schedule.program(rank);
      for (const Step& step : program.steps()) widest = std::max(widest, step.chunks.count);
    }
    EXPECT_EQ(widest, schedule.shape().widest) << "n = " << n;
  }
}

TEST_P(EveryAlgorithm, copies_once_on_a_single_rank) {
  const auto& [algorithm, collective] = GetParam();
  const Program program = algorithm->make(collective, 1, 0).program(0);
  ASSERT_EQ(program.steps().size(), 1u);
  EXPECT_EQ(program.steps()[0].verb, Verb::copy);
}

TEST_P(EveryAlgorithm, refuses_worlds_and_roots_that_do_not_exist) {
  const auto& [algorithm, collective] = GetParam();
  EXPECT_THROW(algorithm->make(collective, 0, 0), ScheduleError);
  EXPECT_THROW(algorithm->make(collective, -3, 0), ScheduleError);
  EXPECT_THROW(algorithm->make(collective, 4, 4), ScheduleError);
  EXPECT_THROW(algorithm->make(collective, 1, -1), ScheduleError);
  if (!has_root(collective)) {
    EXPECT_THROW(algorithm->make(collective, 4, 1), ScheduleError);
  }
}

std::string case_name(const ::testing::TestParamInfo<Case>& which) {
  return std::string(which.param.algorithm->name) + "_" + collective_name(which.param.collective);
}

INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithm, ::testing::ValuesIn(all_cases()), case_name);

// The order in which numbers are added is part of what an algorithm promises where it promises rank order.
TEST(RankOrder, one_shot_and_two_shot_fold_all_operands_in_rank_order) {
  for (const char* name : {"one_shot", "two_shot"}) {
    const Schedule schedule = make_schedule(name, Collective::all_reduce, 5);
    for (int rank = 0; rank < 5; ++rank) {
      const Program program = schedule.program(rank);
      int folds = 0;
      for (const Step& step : program.steps()) {
        if (!shape_of(step.verb).reduces) continue;
        ++folds;
        std::vector<int> order;
        for (const Endpoint& end : step.recv) order.push_back(end.peer);
        order.insert(order.begin() + step.src_at, rank);
        EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4})) << name << ", rank " << rank;
      }
      EXPECT_EQ(folds, 1);
    }
  }
}

TEST(RankOrder, recursive_doubling_puts_lower_ranks_first) {
  for (int n : {2, 6, 8, 11})
    for (int rank = 0; rank < n; ++rank) {
      const Program program = make_schedule("recursive_doubling", Collective::all_reduce, n).program(rank);
      for (const Step& step : program.steps())
        if (shape_of(step.verb).reduces) {
          EXPECT_EQ(step.src_at, step.recv[0].peer < rank ? 1 : 0);
        }
    }
}

// Sanders, Speck & Traeff: a rank is an inner node of at most one of the two trees. For odd n the two roots' ends allow
// one exception (rank 0). An inner node of tree t below the root is a recv_reduce_send with chunk t.
TEST(DoubleTree, gives_no_rank_inner_work_in_both_trees) {
  for (int n = 2; n <= 33; ++n) {
    const Schedule schedule = make_schedule("double_tree", Collective::all_reduce, n);
    for (int rank = 0; rank < n; ++rank) {
      const Program program = schedule.program(rank);
      int inner = 0;
      for (const Step& step : program.steps()) inner += step.verb == Verb::recv_reduce_send ? 1 : 0;
      EXPECT_LE(inner, 1) << "n = " << n << ", rank " << rank;
    }
  }
}

TEST(Ring, only_ever_talks_to_its_neighbours) {
  for (Collective collective : find_algorithm("ring").collectives) {
    const Schedule schedule = make_schedule("ring", collective, 6, has_root(collective) ? 4 : 0);
    for (int rank = 0; rank < 6; ++rank) {
      const Program program = schedule.program(rank);
      for (const Step& step : program.steps()) {
        for (int peer : step.send_to) EXPECT_EQ(peer, (rank + 1) % 6);
        for (const Endpoint& end : step.recv) EXPECT_EQ(end.peer, (rank + 5) % 6);
      }
    }
  }
}

// Half of all blocks move to the next rank; over the longest distance goes one (Jeaugey 2025).
TEST(Pat, what_travels_far_is_small) {
  for (Collective collective : {Collective::all_gather, Collective::reduce_scatter}) {
    const Program program = make_schedule("pat", collective, 16).program(3);
    std::map<int, int> blocks;  // by distance
    for (const Step& step : program.steps())
      for (int peer : step.send_to) {
        const int ahead = (peer - 3 + 16) % 16;
        blocks[std::min(ahead, 16 - ahead)] += step.chunks.count;
      }
    EXPECT_EQ(blocks, (std::map<int, int>{{1, 8}, {2, 4}, {4, 2}, {8, 1}})) << collective_name(collective);
  }
}

// One message a round, but the first of reduce_scatter, which is two.
TEST(Pat, rounds_are_logarithmic) {
  for (int n : {2, 3, 6, 7, 16, 33}) {
    const int rounds = static_cast<int>(std::ceil(std::log2(n)));
    for (Collective collective : {Collective::all_gather, Collective::reduce_scatter}) {
      const Schedule schedule = make_schedule("pat", collective, n);
      int sends = 0;
      const Program program = schedule.program(n - 1);
      for (const Step& step : program.steps()) sends += step.send_to.empty() ? 0 : 1;
      EXPECT_EQ(sends, rounds + (collective == Collective::reduce_scatter && n > 5 ? 1 : 0)) << n;
      EXPECT_LE(measure(schedule).hops, rounds) << n;
    }
  }
}

TEST(Registry, on_one_host_the_candidates_are_the_flat_algorithms_only) {
  const HostGroups one = HostGroups::single(8), two = HostGroups::blocks(8, 4);
  int num_for_several = 0;
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : kCollectives) {
      EXPECT_EQ(algorithm.is_candidate(collective, two), algorithm.supports(collective)) << algorithm.name;
      EXPECT_EQ(algorithm.is_candidate(collective, one), algorithm.supports(collective) && !algorithm.for_several_hosts)
          << algorithm.name;
      num_for_several += algorithm.is_candidate(collective, two) && !algorithm.is_candidate(collective, one) ? 1 : 0;
    }
  EXPECT_GT(num_for_several, 0);
}

TEST(Registry, hosts_must_be_those_of_the_ranks) {
  EXPECT_THROW(make_schedule("ring", Collective::all_reduce, 4, 0, HostGroups::single(5)), UsageError);
  EXPECT_NO_THROW(make_schedule("ring", Collective::all_reduce, 5, 0, HostGroups::blocks(5, 2)));
}

TEST(Registry, finds_every_algorithm_by_its_name) {
  for (const Algorithm& algorithm : algorithms()) EXPECT_EQ(&find_algorithm(algorithm.name), &algorithm);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Registry, lists_what_exists_for_an_unknown_name) {
  const std::string message = message_of([] { find_algorithm("rign"); });
  for (const Algorithm& algorithm : algorithms()) EXPECT_NE(message.find(algorithm.name), std::string::npos) << message;
  EXPECT_NE(message.find("rign"), std::string::npos);
}

TEST(Registry, says_which_algorithms_can_if_this_one_cannot) {
  const std::string message = message_of([] { make_schedule("naive", Collective::all_gather, 4); });
  EXPECT_NE(message.find("all_gather"), std::string::npos);
  EXPECT_NE(message.find("ring, tree"), std::string::npos);
  EXPECT_EQ(message.find("one_shot"), std::string::npos);
}

TEST(Speed, a_rank_of_a_large_ring_is_made_in_milliseconds) {
  const auto start = std::chrono::steady_clock::now();
  const Program program = make_schedule("ring", Collective::all_reduce, 1024).program(17);
  EXPECT_EQ(program.steps().size(), 2047u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));  // slack for sanitizers
}

}  // namespace
}  // namespace ringtree
