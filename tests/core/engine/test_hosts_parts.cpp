// Between hosts: transfers, work in the background, parts of communicators, and what is left of one; and that ranks
// which leave or are late do not look broken to the others.
#include <gtest/gtest.h>

#include <barrier>
#include <numeric>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/host_threads.h"
#include "tests/core/engine/transfers.h"

namespace ringtree::testing {
namespace {

// From nothing to more than all slots of a link and the kernel's buffers hold.
constexpr size_t kLengths[] = {0, 1, 7, 8, 1'000, kSanitized ? 50'000 : 1'500'000};

class TransfersOnHosts : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(TransfersOnHosts, of_everybody_with_everybody_at_once) {
  expect_all_well(
      run_on_hosts(GetParam(), [](Communicator& communicator) { exchange_with_everybody(communicator, kLengths, 2); }));
}

INSTANTIATE_TEST_SUITE_P(, TransfersOnHosts,
                         ::testing::Values(std::vector<int>{0, 1}, std::vector<int>{0, 1, 2},
                                           std::vector<int>{0, 1, 1, 0}),
                         [](const auto& one) { return "hosts_" + text_of(one.param); });

TEST(TransfersBetweenHosts, one_by_one_around_a_ring) {
  expect_all_well(run_on_hosts({0, 1, 1, 2}, [](Communicator& communicator) { pass_around(communicator, 50); }));
}

// All messages that may be under way are there before rank 1 takes the first of them; it takes each in a call and
// then computes for long. Rank 0 may send four more at least: it must have been told, although rank 1 is in no call.
TEST(TransfersBetweenHosts, who_has_received_has_said_so_when_its_calls_end) {
  constexpr int kTaken = 7, kMore = 4;  // with the first one: all eight
  std::barrier under_way(2), received(2), sent(2);
  expect_all_well(run_on_hosts({0, 1}, [&](Communicator& communicator) {
    const auto one = [&](bool sends, int number) {
      Words words = message(0, 1, number, sends ? 4 : 0);
      words.resize(4);
      const Transfer transfer = sends ? sending(1, words) : receiving(0, words);
      communicator.transfer({&transfer, 1}, 20.0);
      if (!sends) expect_equal(words, message(0, 1, number, 4), "message " + std::to_string(number));
    };
    const bool sends = communicator.rank() == 0;
    one(sends, kTaken + kMore);  // the first waits until rank 1 has made its end of the link
    for (int i = 0; sends && i < kTaken; ++i) one(sends, i);
    under_way.arrive_and_wait();
    for (int i = 0; !sends && i < kTaken; ++i) one(sends, i);
    received.arrive_and_wait();
    const std::string outcome = outcome_of([&] {
      for (int i = kTaken; sends && i < kTaken + kMore; ++i) one(sends, i);
    });
    sent.arrive_and_wait();
    if (!outcome.empty()) throw std::runtime_error(outcome);
    for (int i = kTaken; !sends && i < kTaken + kMore; ++i) one(sends, i);
  }));
}

TEST(TransfersBetweenHosts, what_peers_sent_before_they_left_arrives) {
  constexpr int kRounds = kSanitized ? 5 : 30;
  for (int round = 0; round < kRounds; ++round) {
    const size_t length = round % 2 ? 300 : 60'000;
    expect_all_well(run_on_hosts({0, 1, 2},
                                 [&](Communicator& communicator) {
                                   const int rank = communicator.rank();
                                   if (rank < 2) {
                                     Words words = message(rank, 2, 0, length);
                                     const Transfer send = sending(2, words);
                                     communicator.transfer({&send, 1});
                                     return;
                                   }
                                   for (int from : {0, 1}) {
                                     Words words(length);
                                     const Transfer receive = receiving(from, words);
                                     communicator.transfer({&receive, 1});
                                     if (words != message(from, 2, 0, length)) throw std::runtime_error("wrong");
                                   }
                                 }),
                    "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST(TransfersBetweenHosts, of_unequal_counts_are_a_mismatch_that_names_both) {
  expect_unequal_counts_named(run_on_hosts({0, 1}, transfer_unequal_counts));
}

TEST(TransfersBetweenHosts, a_peer_that_leaves_is_named) {
  const auto outcomes = run_on_hosts({0, 1, 2}, [](Communicator& communicator) {
    Words words(10);
    const Transfer transfer = receiving(0, words);
    const int64_t start_ns = now_ns();
    if (communicator.rank() == 1) {
      const std::string outcome = outcome_of([&] { communicator.transfer({&transfer, 1}); });
      EXPECT_TRUE(contains(outcome, "left the communicator before the recv of 10 int64 from rank 0")) << outcome;
      EXPECT_LT(now_ns() - start_ns, 10'000'000'000);
    }
  });
  expect_all_well(outcomes);
}

// Rank 0 has sent to 1 and 2 and leaves, but 2 is late and its kernel cannot hold everything: rank 0 is still at it
// when rank 1 waits for rank 2. To rank 1 that is not a broken stream.
TEST(TransfersBetweenHosts, a_rank_that_leaves_while_a_third_one_is_late_looks_broken_to_nobody) {
  std::atomic<bool> late_may_go{false};
  const auto outcomes = run_on_hosts({0, 1, 2}, [&](Communicator& communicator) {
    constexpr size_t kMuch = 40'000, kLittle = 10;  // 320 KB: less than a link's slots, more than a socket takes unread
    const int rank = communicator.rank();
    sum_of_ones(communicator, 10);
    Words much(kMuch), little(kLittle), more(kLittle);
    // The links first, so that rank 0 can send without rank 2.
    std::vector<Transfer> first;
    if (rank == 0) first = {sending(1, little), sending(2, little)};
    if (rank == 1) first = {receiving(0, little), receiving(2, more)};
    if (rank == 2) first = {receiving(0, little), sending(1, more)};
    communicator.transfer(first);
    std::vector<Transfer> second;
    if (rank == 0) second = {sending(1, little), sending(2, much)};
    if (rank == 1) second = {receiving(0, little), receiving(2, more)};
    if (rank == 2) second = {receiving(0, much), sending(1, more)};
    if (rank == 2) {
      const Deadline deadline = patience();
      while (!late_may_go.load() && !deadline.passed()) std::this_thread::yield();
    }
    std::optional<std::jthread> opener;
    if (rank == 1)  // rank 2 is later than any doubt about a broken stream lasts
      opener.emplace([&] {
        const int64_t start_ns = now_ns();
        while (now_ns() - start_ns < 800'000'000) std::this_thread::yield();
        late_may_go.store(true);
      });
    communicator.transfer(second);
  });
  expect_all_well(outcomes);
}

TEST(HostsWork, runs_in_the_background_and_in_order) {
  expect_all_well(run_on_hosts({0, 1, 0}, [](Communicator& communicator) {
    std::vector<std::vector<float>> data;
    for (size_t i = 0; i < 20; ++i) data.emplace_back(1 + i * 10'000, 1.0f);
    std::vector<std::shared_ptr<Work>> works;
    for (auto& each : data) {
      Call arguments;
      arguments.count = each.size();
      arguments.input = arguments.output = each.data();
      works.push_back(communicator.start(arguments));
    }
    sum_of_ones(communicator, 5);  // after all of them
    for (const auto& work : works)
      if (!work->test()) throw std::runtime_error("a later call was first");
    for (const auto& each : data)
      for (const float value : each)
        if (value != 3.0f) throw std::runtime_error("a wrong sum");
    const int other = communicator.rank() == 0 ? 1 : 0;
    Words out = message(communicator.rank(), other, 1, 100'000), in(100'000);
    if (communicator.rank() == 2) return;
    communicator.start({sending(other, out), receiving(other, in)})->wait();
    if (in != message(other, communicator.rank(), 1, 100'000)) throw std::runtime_error("a wrong message");
  }));
}

TEST(HostsParts, are_made_within_hosts_and_across_them) {
  const std::vector<int> hosts{0, 0, 1, 1, 2};
  expect_all_well(run_on_hosts(hosts, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    // Within a host: no network.
    const auto local = communicator.split(hosts[static_cast<size_t>(rank)], 0);
    if (local->world_size() != (rank == 4 ? 1 : 2)) throw std::runtime_error("wrong part");
    sum_of_ones(*local, 10'000);
    if (local->network_bytes() != std::pair<uint64_t, uint64_t>(0, 0)) throw std::runtime_error("used TCP");
    // One of each host, in the opposite order; hosts are counted anew.
    const auto across = communicator.split(rank % 2, -rank);
    sum_of_ones(*across, 10'000);
    const std::vector<int> wanted = rank % 2 ? std::vector<int>{0, 1} : std::vector<int>{0, 1, 2};
    if (across->hosts() != wanted) throw std::runtime_error("wrong hosts");
    const auto nobody = communicator.split(rank == 2 ? -1 : 0, 0);
    if ((nobody == nullptr) != (rank == 2)) throw std::runtime_error("wrong rank left out");
    if (nobody) sum_of_ones(*nobody, 100);
    sum_of_ones(communicator, 10'000);
  }));
}

TEST(HostsParts, of_those_that_are_left_go_on) {
  for (const int leaver : {0, 1, 3}) {
    std::atomic<int> num_summed{0};
    expect_all_well(run_on_hosts({0, 1, 1, 2},
                                 [&](Communicator& communicator) {
                                   sum_of_ones(communicator, 1'000);
                                   ++num_summed;
                                   if (communicator.rank() == leaver) {
                                     while (num_summed.load() < 4) std::this_thread::yield();
                                     communicator.close();
                                     return;
                                   }
                                   const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 1'000); });
                                   if (!contains(outcome, "left the communicator"))
                                     throw std::runtime_error("no such failure: " + outcome);
                                   const auto rest = communicator.shrink();
                                   sum_of_ones(*rest, 1'000);
                                   if (rest->world_size() != 3) throw std::runtime_error("not three are left");
                                 }),
                    "without rank " + std::to_string(leaver));
  }
}

}  // namespace
}  // namespace ringtree::testing
