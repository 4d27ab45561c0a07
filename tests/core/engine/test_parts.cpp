// Communicators made of parts of one: by color and key, and of those that are left when ranks have gone. Ranks as
// threads; survivors of processes that were killed: test_death.cpp.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <thread>

#include "core/bootstrap/unix_socket.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

/// The ranks' numbers in the first communicator, in the order of the part's ranks.
std::vector<int64_t> members_of(Communicator& part, int64_t number) {
  std::vector<int64_t> members(static_cast<size_t>(part.world_size()), -1);
  Call arguments;
  arguments.collective = Collective::all_gather;
  arguments.dtype = Dtype::kInt64;
  arguments.count = 1;
  arguments.input = &number;
  arguments.output = members.data();
  part.run(arguments);
  return members;
}

void expect_members(Communicator& part, int number, const std::vector<int64_t>& wanted) {
  const std::vector<int64_t> members = members_of(part, number);
  std::string text;
  for (const int64_t member : members) text += " " + std::to_string(member);
  if (members != wanted) throw std::runtime_error("other members than wanted:" + text);
  if (wanted[static_cast<size_t>(part.rank())] != number) throw std::runtime_error("another rank than wanted");
  sum_of_ones(part, 1'000);
}

TEST(Split, groups_by_color_in_the_order_of_key_then_rank) {
  expect_all_well(run_communicators(5, test_settings(), [](Communicator& communicator) {
    const int rank = communicator.rank();
    const auto odd = communicator.split(rank % 2, 0);
    expect_members(*odd, rank, rank % 2 == 0 ? std::vector<int64_t>{0, 2, 4} : std::vector<int64_t>{1, 3});
    const auto reversed = communicator.split(7, -rank);
    expect_members(*reversed, rank, {4, 3, 2, 1, 0});
    const auto alone = communicator.split(rank, 0);
    expect_members(*alone, rank, {rank});
    // Parts of parts, and all of them beside the first one.
    const auto pair = odd->split(odd->rank() / 2, 0);
    sum_of_ones(*pair, 10);
    sum_of_ones(*reversed, 10);
    sum_of_ones(communicator, 10);
  }));
}

TEST(Split, leaves_out_who_gives_a_negative_color) {
  expect_all_well(run_communicators(3, test_settings(), [](Communicator& communicator) {
    const auto part = communicator.split(communicator.rank() == 1 ? -1 : 0, 0);
    if ((part == nullptr) != (communicator.rank() == 1)) throw std::runtime_error("the wrong ranks are left out");
    if (part) expect_members(*part, communicator.rank(), {0, 2});
  }));
}

TEST(Split, of_an_emulated_cluster_is_refused) {
  Settings settings = test_settings();
  settings.emulation = Cluster{2, 1, 1e-4, 1e9};
  for (const std::string& outcome :
       run_communicators(2, settings, [](Communicator& communicator) { communicator.split(0, 0); }))
    EXPECT_TRUE(contains(outcome, "emulates a cluster cannot be split or shrunk")) << outcome;
}

class Shrink : public ::testing::TestWithParam<std::vector<int>> {};

// Ranks leave one after the other; those that are left sum among themselves after each.
TEST_P(Shrink, goes_on_with_those_that_are_left) {
  constexpr int kRanks = 5;
  const std::vector<int> leavers = GetParam();
  std::array<std::atomic<int>, kRanks> num_summed{};  // before each leaver goes
  expect_all_well(run_communicators(kRanks, test_settings(), [&](Communicator& first) {
    Communicator* current = &first;
    std::vector<std::unique_ptr<Communicator>> parts;
    std::vector<int64_t> left{0, 1, 2, 3, 4};
    for (size_t round = 0; round < leavers.size(); ++round) {
      const int leaver = leavers[round];
      sum_of_ones(*current, 1'000);
      ++num_summed[round];
      if (first.rank() == leaver) {
        // Whoever is still in this call would hear of it from those who are in the next.
        while (num_summed[round].load() < current->world_size()) std::this_thread::yield();
        current->close();
        return;
      }
      std::erase(left, leaver);
      const std::string outcome = outcome_of([&] {
        for (int i = 0; i < 1'000'000; ++i) sum_of_ones(*current, 1'000);
      });
      if (!contains(outcome, "left the communicator")) throw std::runtime_error("no such failure: " + outcome);
      parts.push_back(current->shrink());
      current = parts.back().get();
      expect_members(*current, first.rank(), left);
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(Leavers, Shrink,
                         ::testing::Values(std::vector<int>{4}, std::vector<int>{0}, std::vector<int>{2, 0},
                                           std::vector<int>{0, 1, 2}, std::vector<int>{3, 4, 1, 0}));

// What ranks 0 and 1 are told when they shrink and rank 2 does not.
std::string told_without_rank_2(double timeout_s) {
  std::atomic<bool> ended{false};
  Settings settings = test_settings();
  settings.timeout_s = timeout_s;
  ThreadStore store;
  const auto outcomes = run_ranks(3, [&](int rank) {
    const std::string outcome = outcome_of([&] {
      Communicator communicator(store, rank, 3, settings, built_in_table());
      if (rank == 2) return ended.wait(false);
      communicator.shrink();
    });
    if (rank == 2) return;
    ended.store(true);
    ended.notify_all();
    throw std::runtime_error(outcome);
  });
  return outcomes[0] + outcomes[1];
}

TEST(Shrink, that_not_all_survivors_call_times_out_and_says_so) {
  // Whoever gives up first leaves; another one may then be the only survivor.
  const std::string text = "did not all call shrink() in time";
  std::string told = told_without_rank_2(0.5);
  // The deadline is that of meeting, too, and the machine may be busy.
  if (!contains(told, text)) told = told_without_rank_2(kPatienceSeconds);
  EXPECT_TRUE(contains(told, text)) << told;
}

// What the store is called in which ranks 0 and 1 meet when they shrink for the first time (see part_maker.cpp).
std::string name_of_meeting(Store& store) {
  constexpr uint64_t kFnvBasis = 0xcbf29ce484222325u, kFnvPrime = 0x100000001b3u;
  const uint64_t hash = ((kFnvBasis ^ 0u) * kFnvPrime ^ 1u) * kFnvPrime;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return "ringtree-" + std::to_string(::geteuid()) + "-" + store.get("ringtree/token", patience()) + ".0." + text;
}

// A store that closes every connection does not show that somebody has gone, however often it closes them.
TEST(Shrink, gives_up_at_its_deadline_where_the_store_closes_again_and_again) {
  std::atomic<bool> ended{false};
  int num_callers = 0;
  Settings settings = test_settings();
  settings.timeout_s = 2;
  ThreadStore store;
  const auto outcomes = run_ranks(2, [&](int rank) {
    Communicator communicator(store, rank, 2, settings, built_in_table());
    if (rank == 1) {
      const std::string outcome = outcome_of([&] { communicator.shrink(); });
      ended.store(true);
      throw std::runtime_error(outcome);
    }
    const SocketResult listener = listen_abstract(name_of_meeting(store));
    while (!ended.load()) {
      if (!wait_for(listener.socket.get(), POLLIN, Deadline::after_seconds(0.01))) continue;
      num_callers += accept_connection(listener.socket.get()).error == 0 ? 1 : 0;
    }
  });
  EXPECT_EQ(outcomes[0], "");
  EXPECT_TRUE(contains(outcomes[1], "timeout: the survivors 0 1 did not all call shrink() in time")) << outcomes[1];
  EXPECT_GT(num_callers, 1);
}

}  // namespace
}  // namespace ringtree::testing
