// One call after another over the same links: different collectives, algorithms, protocols, cuts and sizes in random
// order, so that a link that one plan left in any state is taken over by the next, and ranks run ahead of each other;
// with a core for each rank and with one core for all.
#include <gtest/gtest.h>

#include <random>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

constexpr int kCalls = kSanitized ? 150 : 500;
constexpr size_t kLongest = 120'000;  // of 8 bytes
constexpr uint32_t kSeed = 20240517;
constexpr size_t kSliceBytes[] = {1, 10'000, 16'384, 32'768, 65'536, 1 << 20};

std::vector<CheckedCall> random_calls(int n) {
  std::mt19937 random(kSeed + static_cast<uint32_t>(n));
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  std::vector<CheckedCall> calls;
  for (int i = 0; i < kCalls; ++i) {
    const Algorithm& algorithm = algorithms()[below(algorithms().size())];
    CheckedCall call;
    call.collective = algorithm.collectives[below(algorithm.collectives.size())];
    call.algorithm = by(algorithm.name);
    if (below(2) == 1) call.algorithm.protocol = kProtocols[below(kNumProtocols)].protocol;
    if (below(3) == 0) call.algorithm.slice_bytes = kSliceBytes[below(std::size(kSliceBytes))];
    if (below(4) == 0) call.algorithm.streaming = below(2) == 1;
    const size_t longest = kLongest / (has_blocks(call.collective) ? static_cast<size_t>(n) : 1);
    // Sizes of all magnitudes alike, mostly small.
    call.count = below(size_t{1} << below(17)) % longest;
    call.root = has_root(call.collective) ? static_cast<int>(below(static_cast<size_t>(n))) : 0;
    call.in_place = below(2) == 1;
    call.shift = below(64);
    call.misalignment = below(2) == 1 ? below(64) : 0;
    call.uneven = has_blocks(call.collective) && below(3) == 0;
    if (call.uneven) call.count /= 2;  // the longest blocks have three halves of it
    calls.push_back(call);
  }
  return calls;
}

class Handover : public ::testing::TestWithParam<std::tuple<int, int, Cores>> {};

TEST_P(Handover, random_calls_one_after_another_are_all_right) {
  const auto [n, num_channels, cores] = GetParam();
  std::printf("[ seed ] %u\n", kSeed);
  const World<uint64_t> world(21, n, kLongest + 64);
  const auto calls = random_calls(n);
  expect_all_well(run_communicators(
      n, test_settings(num_channels),
      [&](Communicator& communicator) {
        for (const CheckedCall& call : calls) make_checked_call(communicator, world, call);
      },
      cores));
}

INSTANTIATE_TEST_SUITE_P(RanksAndChannels, Handover,
                         ::testing::Values(std::tuple(2, 1, Cores::all), std::tuple(2, 1, Cores::one),
                                           std::tuple(2, 3, Cores::all), std::tuple(3, 2, Cores::all),
                                           std::tuple(4, 1, Cores::all), std::tuple(4, 2, Cores::one),
                                           std::tuple(7, 1, Cores::all)));

// The root of a broadcast needs nobody: it runs ahead until its slots are full, over calls of different plans.
TEST(Handover, a_root_that_runs_ahead_overtakes_nobody) {
  const World<uint64_t> world(22, 3, 3000);
  expect_all_well(run_communicators(3, test_settings(), [&](Communicator& communicator) {
    for (size_t i = 0; i < 300; ++i)
      make_checked_call(communicator, world,
                        {Collective::broadcast, by(i % 3 == 0 ? "tree" : "ring"), Dtype::kInt64,
                         i % 5 == 0 ? size_t{0} : 10 * i, 0, false, i % 7, 0});
  }));
}

TEST(Handover, a_call_of_no_elements_is_a_barrier) {
  constexpr int kRanks = 4, kRounds = 200;
  std::atomic<int> arrived{0};
  expect_all_well(run_communicators(kRanks, test_settings(), [&](Communicator& communicator) {
    for (int round = 1; round <= kRounds; ++round) {
      arrived.fetch_add(1);
      sum_of_ones(communicator, 0, "tree");
      if (arrived.load() < kRanks * round) throw std::runtime_error("left before all had come");
    }
  }));
}

}  // namespace
}  // namespace ringtree::testing
