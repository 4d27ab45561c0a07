// What ends a communicator: a rank that leaves, that does not come, that is interrupted, that has no memory left. Every
// rank must hear why, and hear it again at each later call. Ranks that disagree: test_mismatch.cpp; ranks that are
// killed: test_death.cpp; mistakes that end nothing: test_usage.cpp.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

/// A gate that opens when it was counted down, for tests in which one rank must wait for another's end.
class Gate {
 public:
  explicit Gate(int count) : count_(count) {}
  void count_down() {
    const std::lock_guard lock(mutex_);
    if (--count_ <= 0) changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ <= 0; });
  }

 private:
  std::mutex mutex_;  // protects count_
  std::condition_variable changed_;
  int count_;
};

/// Counts down however the scope ends.
struct AtEnd {
  Gate& gate;
  ~AtEnd() { gate.count_down(); }
};

/// A call that every rank has left when it returns: one that is still in it would hear of a later call's failure.
void finish_sum_of_ones(Communicator& communicator, size_t count, Gate& all_done) {
  {
    const AtEnd at_end{all_done};
    sum_of_ones(communicator, count);
  }
  all_done.wait();
}

std::string pid_text(int rank) { return "rank " + std::to_string(rank) + " (pid " + std::to_string(getpid()) + ")"; }

TEST(Failures, a_rank_that_leaves_is_named_with_the_call_that_needed_it) {
  for (const char* algorithm : {"ring", "tree", "one_shot", "halving_doubling"}) {
    const auto outcomes = run_communicators(3, test_settings(), [&](Communicator& communicator) {
      sum_of_ones(communicator, 100, algorithm);
      if (communicator.rank() == 1) return;
      sum_of_ones(communicator, 100, algorithm);
    });
    EXPECT_EQ(outcomes[1], "");
    for (size_t rank : {0, 2}) {
      EXPECT_TRUE(contains(outcomes[rank], "peer: " + pid_text(1) + " left")) << outcomes[rank];
      EXPECT_TRUE(contains(outcomes[rank], "all_reduce #2")) << outcomes[rank];
    }
  }
}

TEST(Failures, who_was_missed_is_told_on_every_rank) {
  std::vector<std::vector<int>> found(4);
  Gate all_done(4);
  const auto outcomes = run_communicators(4, test_settings(), [&](Communicator& communicator) {
    finish_sum_of_ones(communicator, 100, all_done);
    if (communicator.rank() == 2) return;
    found[static_cast<size_t>(communicator.rank())] = ranks_in_error([&] { sum_of_ones(communicator, 100, "ring"); });
    EXPECT_EQ(communicator.failure()->ranks, std::vector<int>{2});
  });
  expect_all_well(outcomes, "");
  for (const size_t rank : {0, 1, 3}) EXPECT_EQ(found[rank], std::vector<int>{2}) << rank;
}

TEST(Failures, a_rank_that_is_done_and_leaves_at_once_disturbs_nobody) {
  constexpr int kRounds = kSanitized ? 60 : 200;
  const char* names[] = {"ring", "tree", "naive", "two_shot"};
  for (size_t round = 0; round < kRounds; ++round) {
    const size_t count = round % 7 == 0 ? 200'000 : 1 + 37 * round;
    const auto outcomes = run_communicators(
        3, test_settings(), [&](Communicator& communicator) { sum_of_ones(communicator, count, names[round % 4]); });
    expect_all_well(outcomes, "round " + std::to_string(round));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Failures, a_root_that_sent_and_left_disturbs_nobody) {
  constexpr int kRounds = kSanitized ? 30 : 100;
  for (int round = 0; round < kRounds; ++round) {
    const auto outcomes = run_communicators(3, test_settings(), [&](Communicator& communicator) {
      std::vector<float> data(1000, communicator.rank() == 0 ? 5.0f : 0.0f);
      Call arguments;
      arguments.collective = Collective::broadcast;
      arguments.count = data.size();
      arguments.input = arguments.output = data.data();
      communicator.run(with(arguments, by("tree")));
      if (data[999] != 5.0f) throw std::runtime_error("not what the root sent");
    });
    expect_all_well(outcomes, "round " + std::to_string(round));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Failures, a_rank_that_does_not_come_is_named_with_its_newest_call) {
  Gate others_done(2);
  const auto outcomes = run_communicators(3, test_settings(), [&](Communicator& communicator) {
    sum_of_ones(communicator, 100);
    if (communicator.rank() == 2) {
      others_done.wait();
    } else {
      const AtEnd at_end{others_done};
      const int64_t start_ns = now_ns();
      const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 100, "ring", 0.3); });
      if (now_ns() - start_ns < 250'000'000) throw std::runtime_error("gave up early: " + outcome);
      EXPECT_TRUE(contains(outcome, "timeout: all_reduce #2")) << outcome;
      EXPECT_TRUE(contains(outcome, "0.3 s")) << outcome;
      EXPECT_TRUE(contains(outcome, pid_text(2) + " has only begun call #1")) << outcome;
      EXPECT_FALSE(contains(outcome, pid_text(1 - communicator.rank()) + " has only begun")) << outcome;
    }
    sum_of_ones(communicator, 100);  // the late rank hears of it in its call
  });
  for (const std::string& outcome : outcomes) EXPECT_TRUE(contains(outcome, "timeout: all_reduce #2")) << outcome;
}

TEST(Failures, a_rank_that_does_not_come_to_a_first_call_of_new_links_is_named_too) {
  Gate other_done(1);
  const auto outcomes = run_communicators(2, test_settings(), [&](Communicator& communicator) {
    if (communicator.rank() == 1) return other_done.wait();
    const AtEnd at_end{other_done};
    sum_of_ones(communicator, 100, "ring", 0.1);
  });
  EXPECT_TRUE(contains(outcomes[0], "timeout: all_reduce #1")) << outcomes[0];
  EXPECT_TRUE(contains(outcomes[0], pid_text(1) + " has not begun a call;")) << outcomes[0];
}

TEST(Failures, every_later_call_reports_the_first_failure_again) {
  Gate all_done(3);
  const auto outcomes = run_communicators(3, test_settings(), [&](Communicator& communicator) {
    finish_sum_of_ones(communicator, 1, all_done);
    if (communicator.rank() == 0) return;
    const std::string first = outcome_of([&] { sum_of_ones(communicator, 100); });
    EXPECT_TRUE(contains(first, "peer: ")) << first;
    for (const char* algorithm : {"ring", "tree"})
      EXPECT_EQ(outcome_of([&] { sum_of_ones(communicator, 7, algorithm); }), first);
  });
  expect_all_well(outcomes);
}

thread_local bool interrupt_this_thread = false;

TEST(Failures, an_interrupt_ends_the_call_here_and_is_a_departed_peer_there) {
  Gate interrupted(1);
  const auto outcomes = run_communicators(3, test_settings(), [&](Communicator& communicator) {
    sum_of_ones(communicator, 100);
    communicator.set_interrupt_check([] { return interrupt_this_thread ? 1 : 0; });
    interrupt_this_thread = communicator.rank() == 1;
    if (communicator.rank() == 2) interrupted.wait();
    if (communicator.rank() == 1) {
      const AtEnd at_end{interrupted};
      EXPECT_THROW(sum_of_ones(communicator, 100), Interrupted);
    }
    sum_of_ones(communicator, 100);
  });
  EXPECT_TRUE(contains(outcomes[1], "other: " + pid_text(1) + " was interrupted during all_reduce #2")) << outcomes[1];
  for (size_t rank : {0, 2})
    EXPECT_TRUE(contains(outcomes[rank], "peer: " + pid_text(1) + " was interrupted during all_reduce #2"))
        << outcomes[rank];
}

TEST(Failures, a_rank_beyond_its_memory_cap_says_so_and_the_others_hear_it) {
  const auto settings_of = [](int rank) {
    Settings settings = test_settings();
    if (rank == 1) settings.memory_cap_bytes = 100'000;
    return settings;
  };
  const auto outcomes =
      run_communicators(4, settings_of, [&](Communicator& communicator) { sum_of_ones(communicator, 100); });
  EXPECT_TRUE(contains(outcomes[1], "usage: links need")) << outcomes[1];
  EXPECT_TRUE(contains(outcomes[1], "raise memory_cap")) << outcomes[1];
  for (size_t rank : {0, 2, 3}) {
    EXPECT_TRUE(contains(outcomes[rank], "other: " + pid_text(1) + " could not begin all_reduce(count=100"))
        << outcomes[rank];
    EXPECT_TRUE(contains(outcomes[rank], "links need")) << outcomes[rank];
  }
}

std::atomic<bool> waits_in_a_call{false};

TEST(Failures, closing_during_a_call_of_another_thread_ends_that_call) {
  waits_in_a_call = false;
  Gate closed(1);
  const auto outcomes = run_communicators(2, test_settings(), [&](Communicator& communicator) {
    if (communicator.rank() == 1) {
      closed.wait();
      sum_of_ones(communicator, 100);
      return;
    }
    communicator.set_interrupt_check([] {
      waits_in_a_call.store(true);
      waits_in_a_call.notify_all();
      return 0;
    });
    std::thread closer([&] {
      waits_in_a_call.wait(false);
      communicator.close();
      closed.count_down();
    });
    const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 100); });
    closer.join();
    EXPECT_TRUE(contains(outcome, "peer: " + pid_text(0) + " closed its communicator during a call")) << outcome;
  });
  EXPECT_EQ(outcomes[0], "");
  EXPECT_TRUE(contains(outcomes[1], "peer: " + pid_text(0) + " closed its communicator")) << outcomes[1];
}

}  // namespace
}  // namespace ringtree::testing
