// Schedules drawn at random, between hosts and on one: which place a message may be sent from or received in is decided
// by what a schedule does there (direct.h, link_placer.h), and these do what no algorithm would. They fold, send and
// overwrite at random, yet what comes out is fixed by each rank's own order: it must not depend on how messages travel.
#include <gtest/gtest.h>

#include <barrier>
#include <numeric>

#include "tests/core/engine/host_threads.h"
#include "tests/core/engine/random_schedule.h"

namespace ringtree::testing {
namespace {

constexpr int kRanks = 3;
constexpr int kRounds = 3;  // the second finds links that are there, and messages of the first behind

using Outputs = std::vector<std::vector<uint64_t>>;  // by round and rank

/// What is in the ranks' outputs after each round; of messages that were placed, adds up how many.
Outputs outputs_of(const Schedule& schedule, const std::vector<int>& hosts, size_t count, bool in_place,
                   std::atomic<size_t>& num_placed) {
  Outputs outputs(kRounds * kRanks);
  const auto outcomes = run_on_hosts(hosts, [&](Communicator& communicator) {
    const auto rank = static_cast<size_t>(communicator.rank());
    for (size_t round = 0; round < kRounds; ++round) {
      std::vector<uint64_t> input(count), output(count);
      std::iota(input.begin(), input.end(), (rank + 1) * 0x9e3779b97f4a7c15u * (round + 1));
      std::iota(output.begin(), output.end(), (rank + 7) * 0xbf58476d1ce4e5b9u * (round + 1));
      Call call = call_of(Collective::all_reduce, count, Dtype::kUint64);
      call.input = input.data();
      call.output = in_place ? input.data() : output.data();
      communicator.run(with(call, own(schedule)));
      num_placed += communicator.last_call().num_placed;
      outputs[round * kRanks + rank] = in_place ? input : output;
    }
  });
  expect_all_well(outcomes, schedule.shape().name + " on hosts " + text_of(hosts));
  return outputs;
}

TEST(HostsRandom, schedules_come_to_the_same_as_on_one_host) {
  constexpr uint64_t kSeeds = kSanitized ? 8 : 40;
  std::atomic<size_t> num_placed{0};
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    const Schedule schedule = RandomSchedule(seed, kRanks, 3).schedule();
    for (const size_t count : {size_t{500}, size_t{100'003}})
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(count) + (in_place ? " in place" : ""));
        std::atomic<size_t> none{0};
        const Outputs wanted = outputs_of(schedule, {0, 0, 0}, count, in_place, none);
        EXPECT_EQ(none, 0u);
        for (const std::vector<int>& hosts : {std::vector<int>{0, 1, 2}, std::vector<int>{0, 1, 0}})
          EXPECT_TRUE(outputs_of(schedule, hosts, count, in_place, num_placed) == wanted) << text_of(hosts);
      }
  }
  EXPECT_GT(num_placed, 0u);
  std::printf("[ measured ] %zu messages were placed\n", num_placed.load());
}

}  // namespace
}  // namespace ringtree::testing
