// close() while another thread calls, with a core for each rank and with one core for all (the two keep calls and
// close() apart in different ways): the call ends and says why, whatever it was at. A call that waits for ever:
// test_failures.cpp.
#include <gtest/gtest.h>

#include "tests/core/engine/host_threads.h"

namespace ringtree::testing {
namespace {

constexpr int kRounds = kSanitized ? 15 : 60;

/// The ways in which a rank may hear of it.
bool is_an_end(const std::string& outcome, int closing_rank) {
  const std::string who = "rank " + std::to_string(closing_rank) + " (pid ";
  return outcome == "usage: this communicator was closed; make a new one" ||
         (contains(outcome, "peer: " + who) &&
          (contains(outcome, "closed its communicator during a call") || contains(outcome, "left the communicator")));
}

// Rank 0 calls until its communicator is closed by another thread, which does so once it has seen `num_calls` begin.
std::string call_until_closed(Communicator& communicator, uint64_t num_calls, size_t count,
                              const AlgorithmRef& algorithm) {
  std::atomic<uint64_t> num_begun{0};
  std::thread closer([&] {
    for (uint64_t seen = 0; seen < num_calls; seen = num_begun.load()) num_begun.wait(seen);
    communicator.close();
  });
  std::string outcome;
  while (outcome.empty()) {
    num_begun.fetch_add(1);
    num_begun.notify_one();
    outcome = outcome_of([&] { sum_of_ones(communicator, count, algorithm); });
  }
  num_begun.fetch_add(num_calls);  // should the calls have ended for another reason
  num_begun.notify_one();
  closer.join();
  EXPECT_EQ(outcome_of([&] { sum_of_ones(communicator, count, algorithm); }),
            "usage: this communicator was closed; make a new one");
  return outcome;
}

class Closing : public ::testing::TestWithParam<std::tuple<int, Cores>> {};

TEST_P(Closing, while_another_thread_calls_ends_its_calls_on_every_rank) {
  const auto [n, cores] = GetParam();
  for (int round = 0; round < kRounds; ++round) {
    const AlgorithmRef algorithm = by(round % 2 == 0 ? "ring" : "two_shot", kProtocols[round % 3].protocol);
    const size_t count = round % 5 == 0 ? 100'000 : 50;
    const auto outcomes = run_communicators(
        n, test_settings(),
        [&](Communicator& communicator) {
          // All have theirs when rank 0 has done this, else a constructor would hear of the end.
          std::string outcome = outcome_of([&] { sum_of_ones(communicator, 1); });
          if (communicator.rank() == 0)
            outcome = call_until_closed(communicator, 1 + static_cast<uint64_t>(round) * 3 % 16, count, algorithm);
          while (outcome.empty()) outcome = outcome_of([&] { sum_of_ones(communicator, count, algorithm); });
          if (!is_an_end(outcome, 0)) throw std::runtime_error(outcome);
        },
        cores);
    expect_all_well(outcomes, "round " + std::to_string(round));
    if (::testing::Test::HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(RanksAndCores, Closing,
                         ::testing::Values(std::tuple(2, Cores::all), std::tuple(2, Cores::one),
                                           std::tuple(4, Cores::all), std::tuple(4, Cores::one)));

TEST(ClosingOnHosts, while_another_thread_calls_ends_its_calls_on_every_rank) {
  for (int round = 0; round < kRounds; ++round) {
    const size_t count = round % 5 == 0 ? 1'000'000 : 50;
    const std::vector<int> hosts = round % 2 == 0 ? std::vector<int>{0, 1} : std::vector<int>{0, 1, 1};
    expect_all_well(run_on_hosts(hosts,
                                 [&](Communicator& communicator) {
                                   std::string outcome = outcome_of([&] { sum_of_ones(communicator, 1); });
                                   if (communicator.rank() == 0)
                                     outcome = call_until_closed(
                                         communicator, 1 + static_cast<uint64_t>(round) * 3 % 16, count, by("ring"));
                                   while (outcome.empty())
                                     outcome = outcome_of([&] { sum_of_ones(communicator, count); });
                                   if (!is_an_end(outcome, 0)) throw std::runtime_error(outcome);
                                 }),
                    "round " + std::to_string(round));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ClosingOnHosts, from_several_threads_at_once_is_as_good_as_from_one) {
  expect_all_well(run_on_hosts({0, 1}, [](Communicator& communicator) {
    sum_of_ones(communicator, 100);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { communicator.close(); });
    for (std::thread& thread : threads) thread.join();
  }));
}

TEST(Closing, from_several_threads_at_once_is_as_good_as_from_one) {
  for (Cores cores : {Cores::all, Cores::one})
    expect_all_well(run_communicators(
        2, test_settings(),
        [](Communicator& communicator) {
          sum_of_ones(communicator, 100);
          std::vector<std::thread> threads;
          for (int i = 0; i < 3; ++i) threads.emplace_back([&] { communicator.close(); });
          for (std::thread& thread : threads) thread.join();
          EXPECT_EQ(outcome_of([&] { sum_of_ones(communicator, 100); }),
                    "usage: this communicator was closed; make a new one");
        },
        cores));
}

}  // namespace
}  // namespace ringtree::testing
