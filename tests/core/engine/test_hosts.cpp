// Collectives and transfers between hosts: the same schedules over TCP, alone and mixed with shared memory.
#include <gtest/gtest.h>

#include <barrier>

#include "tests/core/engine/every_call.h"
#include "tests/core/engine/host_threads.h"

namespace ringtree::testing {
namespace {

class OnHosts : public ::testing::TestWithParam<std::vector<int>> {};

TEST_P(OnHosts, every_collective_gives_exact_results_and_touches_nothing_else) {
  const std::vector<int>& hosts = GetParam();
  const int n = static_cast<int>(hosts.size());
  const World<uint64_t> world(21, n, kLarge + kMaxShift);
  const auto calls = every_call(n, Protocol::simple, Dtype::kInt64);
  expect_all_well(run_on_hosts(hosts, [&](Communicator& communicator) {
    for (const CheckedCall& call : calls) make_checked_call(communicator, world, call);
  }));
}

INSTANTIATE_TEST_SUITE_P(, OnHosts,
                         ::testing::Values(std::vector<int>{0, 1}, std::vector<int>{0, 1, 2},
                                           std::vector<int>{0, 0, 1, 1}, std::vector<int>{0, 1, 0, 1},
                                           std::vector<int>{0, 0, 0, 1, 2}),
                         [](const auto& one) { return "hosts_" + text_of(one.param); });

TEST(Hosts, are_not_used_by_ranks_that_share_one) {
  expect_all_well(run_on_hosts({3, 3}, [](Communicator& communicator) {
    sum_of_ones(communicator, 100);
    if (communicator.hosts() != std::vector<int>{0, 0}) throw std::runtime_error("wrong hosts");
    if (communicator.network_bytes() != std::pair<uint64_t, uint64_t>(0, 0)) throw std::runtime_error("used TCP");
  }));
}

// A ring sends 2 (n-1)/n of the data from each rank, here one a host; headers and credits come to less than 1 %.
TEST(Hosts, send_over_the_network_what_the_schedule_says_and_little_more) {
  expect_all_well(run_on_hosts({0, 1, 2, 3}, [](Communicator& communicator) {
    constexpr size_t kCount = 2'000'000;
    sum_of_ones(communicator, kCount, "ring");
    const double wanted = 2.0 * 3 / 4 * kCount * sizeof(float);
    const auto [sent, received] = communicator.network_bytes();
    for (const uint64_t bytes : {sent, received})
      if (static_cast<double>(bytes) < wanted || static_cast<double>(bytes) > 1.01 * wanted)
        throw std::runtime_error(std::to_string(bytes) + " bytes instead of " + std::to_string(wanted));
  }));
}

// By hand, steps of a quarter of the vector: 256 KB are four slices of 64 KB; 257 KB are more than the 240 of a pass,
// so two of 129, each in three slices; 2 MB are nine passes of 228 KB, each in four.
TEST(Hosts, long_messages_are_cut_into_slices_that_fit_a_tcp_segment) {
  expect_all_well(run_on_hosts({0, 1, 2, 3}, [](Communicator& communicator) {
    for (const auto& [kilobytes, expected] : {std::pair<size_t, size_t>{256, 64}, {257, 43}, {2048, 57}}) {
      sum_of_ones(communicator, 4 * kilobytes * 1024 / sizeof(float), "ring");
      const size_t slice = communicator.last_call().cut.slice_bytes;
      if (slice != expected * 1024)
        throw std::runtime_error(std::to_string(kilobytes) + " KB in slices of " + std::to_string(slice));
    }
    sum_of_ones(communicator, size_t{2} << 20, by("ring", {}, kSlotBytes));
    if (communicator.last_call().cut.slice_bytes != kSlotBytes) throw std::runtime_error("not as it was asked for");
  }));
}

TEST(Hosts, take_several_streams_checksums_and_channels) {
  const std::vector<int> hosts{0, 0, 1};
  const auto settings = [&](int rank) {
    Settings made = settings_on(hosts, rank, 3);
    made.network.num_streams = 4;
    made.network.checksums = true;
    return made;
  };
  expect_all_well(run_communicators(3, settings, [](Communicator& communicator) {
    for (const size_t count : {size_t{1}, size_t{1000}, size_t{3'000'000}}) sum_of_ones(communicator, count);
  }));
}

TEST(Hosts, share_one_core) {
  expect_all_well(run_on_hosts(
      {0, 1, 1, 2},
      [](Communicator& communicator) {
        for (int i = 0; i < 200; ++i) sum_of_ones(communicator, static_cast<size_t>(i) * 37, i % 2 ? "ring" : "tree");
      },
      Cores::one));
}

TEST(Hosts, can_be_split_and_lose_ranks) {
  for (const int leaver : {0, 2}) {
    std::barrier all_done(4);
    expect_all_well(run_on_hosts({0, 0, 1, 1}, [leaver, &all_done](Communicator& communicator) {
      sum_of_ones(communicator, 1000);
      const auto pair = communicator.split(communicator.rank() % 2, 0);  // across the hosts
      if (pair->hosts() != std::vector<int>{0, 1}) throw std::runtime_error("wrong hosts of a part");
      sum_of_ones(*pair, 1000);
      // Not by a call: who has its result may go on to a call that fails, and others would hear of that in this one.
      all_done.arrive_and_wait();
      if (communicator.rank() == leaver) return;
      std::string outcome;
      while (outcome.empty()) outcome = outcome_of([&] { sum_of_ones(communicator, 1000); });
      if (!contains(outcome, "peer: rank " + std::to_string(leaver))) throw std::runtime_error(outcome);
      const auto survivors = communicator.shrink();
      if (survivors->world_size() != 3) throw std::runtime_error("wrong survivors");
      sum_of_ones(*survivors, 100'000);
    }));
  }
}

}  // namespace
}  // namespace ringtree::testing
