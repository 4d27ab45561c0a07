// What goes wrong ends in one clear error on every rank, in time: a rank that does not come, ranks in different calls
// or styles, a rank that leaves, a rank without memory. Ranks as threads; death is in test_death.cpp.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/core/textbook/group_threads.h"

namespace ringtree::textbook::testing {
namespace {

class Failures : public ::testing::TestWithParam<Style> {};

INSTANTIATE_TEST_SUITE_P(All, Failures, ::testing::ValuesIn(kStyles),
                         [](const auto& of) { return style_name(of.param); });

TEST_P(Failures, a_rank_that_does_not_come_is_a_timeout_that_names_it) {
  const int64_t start_ns = now_ns();
  // Rank 1 stays until it is told, so that its leaving is not what is noticed.
  const auto outcomes = run_groups(
      2, GetParam(),
      [](Group& group) {
        const auto prepared = group.prepare(by_name("ring", 2), 1'000, Dtype::kInt64, ReduceOp::sum);
        if (group.rank() == 0) run_checked(group, *prepared, 1, true);
        if (group.rank() == 1) {
          std::string outcome;
          while (outcome.empty()) outcome = outcome_of([&] { group.prepare(by_name("ring", 2), 1, {}, {}); });
          throw std::runtime_error(outcome);
        }
      },
      0.3);
  EXPECT_TRUE(contains(outcomes[0], "timeout: all_reduce by ring (textbook-")) << outcomes[0];
  EXPECT_TRUE(contains(outcomes[0], " #1 was not complete after 0.3 s on rank 0 (pid ")) << outcomes[0];
  EXPECT_TRUE(contains(outcomes[0], "which waits for rank 1 (pid ")) << outcomes[0];
  EXPECT_TRUE(contains(outcomes[1], "was not complete after 0.3 s on rank 0")) << outcomes[1];
  EXPECT_LT(now_ns() - start_ns, int64_t{20'000'000'000});
}

TEST_P(Failures, a_rank_that_leaves_is_named_and_so_is_what_it_misses) {
  const auto outcomes = run_groups(3, GetParam(), [](Group& group) {
    const auto prepared = group.prepare(by_name("ring", 3), 1'000, Dtype::kInt64, ReduceOp::sum);
    run_checked(group, *prepared, 1, true);
    if (group.rank() == 2) return;
    run_checked(group, *prepared, 2, true);
  });
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(contains(outcomes[rank], "peer: rank 2 (pid ")) << outcomes[rank];
    EXPECT_TRUE(contains(outcomes[rank], "left before it completed all_reduce by ring")) << outcomes[rank];
  }
  EXPECT_EQ(outcomes[2], "");
}

TEST_P(Failures, ranks_in_calls_of_different_sizes_are_told_so) {
  const auto outcomes = run_groups(2, GetParam(), [](Group& group) {
    const size_t count = group.rank() == 0 ? 1'000 : 2'000;
    sum_checked(group, by_name("ring", 2), count, 1, true);
  });
  EXPECT_TRUE(contains(outcomes[0], "mismatch: ") || contains(outcomes[1], "mismatch: "))
      << outcomes[0] << "; " << outcomes[1];
  for (const std::string& outcome : outcomes) EXPECT_TRUE(contains(outcome, "rank ")) << outcome;
}

TEST_P(Failures, what_can_not_be_run_harms_nobody) {
  expect_all_well(run_groups(2, GetParam(), [](Group& group) {
    const auto refused = [&](const Schedule& schedule, Dtype dtype, ReduceOp op) {
      return outcome_of([&] { group.prepare(schedule, 8, dtype, op); });
    };
    const std::string other_size = refused(by_name("ring", 3), Dtype::kInt64, ReduceOp::sum);
    const std::string other_collective =
        refused(make_schedule("ring", Collective::all_gather, 2), Dtype::kInt64, ReduceOp::sum);
    const std::string no_op = refused(by_name("ring", 2), Dtype::kComplex64, ReduceOp::min);
    if (!contains(other_size, "usage: the textbook runs all_reduce of 2 ranks here, not all_reduce of 3"))
      throw std::runtime_error(other_size);
    if (!contains(other_collective, "not all_gather of 2")) throw std::runtime_error(other_collective);
    if (!contains(no_op, "usage: min is not defined for complex64")) throw std::runtime_error(no_op);
    sum_checked(group, by_name("ring", 2), 100, 1, false);
  }));
}

TEST_P(Failures, a_closed_group_says_so) {
  expect_all_well(run_groups(1, GetParam(), [](Group& group) {
    const auto prepared = group.prepare(by_name("ring", 1), 8, Dtype::kInt64, ReduceOp::sum);
    group.close();
    group.close();
    const std::string outcome = outcome_of([&] { run_checked(group, *prepared, 1, true); });
    if (outcome != "usage: this group was closed; make a new one") throw std::runtime_error(outcome);
  }));
}

TEST_P(Failures, a_child_made_by_fork_must_make_its_own) {
  expect_all_well(run_groups(1, GetParam(), [](Group& group) {
    const auto prepared = group.prepare(by_name("ring", 1), 1, Dtype::kInt64, ReduceOp::sum);
    const pid_t child = ::fork();
    if (child == 0) {
      int64_t item = 1;
      const std::string outcome = outcome_of([&] { group.run(*prepared, &item, &item); });
      ::_exit(contains(outcome, "made before fork()") ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    if (status != 0) throw std::runtime_error("the child was let in");
  }));
}

TEST(Group, of_ranks_with_different_styles_is_a_mismatch) {
  ThreadStore store;
  const auto outcomes = run_ranks(2, [&](int rank) {
    Group group(store, rank, 2, rank == 0 ? Style::tcp : Style::shm, kTestTimeoutSeconds, "test");
  });
  for (const std::string& outcome : outcomes) {
    EXPECT_TRUE(contains(outcome, "mismatch: ")) << outcome;
    EXPECT_TRUE(contains(outcome, "textbook tcp") && contains(outcome, "textbook shm")) << outcome;
  }
}

TEST(Group, has_a_timeout_above_zero) {
  ThreadStore store;
  EXPECT_EQ(outcome_of([&] { Group(store, 0, 1, Style::tcp, 0, "test"); }), "usage: the timeout must be above 0 s");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Group, a_mailbox_that_memory_does_not_hold_is_an_error_on_every_rank) {
  const auto outcomes = run_groups(2, Style::fused, [](Group& group) {
    // One rank alone would do: both must hear of it, and neither may wait for a mailbox that never comes.
    const size_t count = size_t{1} << 44;
    group.prepare(by_name("ring", 2), count, Dtype::kInt64, ReduceOp::sum);
  });
  for (const std::string& outcome : outcomes) {
    EXPECT_TRUE(contains(outcome, "cannot reserve")) << outcome;
    EXPECT_TRUE(contains(outcome, "shared memory for the mailbox for rank ")) << outcome;
  }
}
#endif

}  // namespace
}  // namespace ringtree::textbook::testing
