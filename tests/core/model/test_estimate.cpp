// The closed form on cases worked out by hand, its monotony, and what choose() says.
#include <gtest/gtest.h>

#include <utility>

#include "core/base/error.h"
#include "core/model/estimate.h"
#include "core/model/recurrence.h"
#include "core/schedule/layout.h"
#include "tests/core/model/schedules.h"

namespace ringtree {
namespace {

constexpr double kTiny = 1e-15;

Machine machine_of(int num_cores) {
  Machine machine;
  machine.alpha_s = 1e-6;
  machine.switch_s = 5e-6;
  machine.copy_Bps = 1e9;
  machine.near_Bps = 1e9;  // and no time for a message: what a test is not about
  machine.num_cores = num_cores;
  return machine;
}

/// An all_reduce of four ranks, counted by hand.
CostSummary ring_of_four() {
  return {.steps = 7, .hops = 6, .sent = 1.5, .written = 2.5, .read = 2.5, .total_written = 10, .total_read = 10};
}
CostSummary chain_of_four() {
  return {.steps = 2, .hops = 6, .sent = 2, .written = 3, .read = 3, .total_written = 10, .total_read = 10};
}
CostSummary one_shot_of_four() {
  return {.steps = 2, .hops = 1, .sent = 1, .written = 2, .read = 5, .total_written = 8, .total_read = 20};
}
CostSummary two_shot_of_four() {
  return {.steps = 7, .hops = 2, .sent = 1, .written = 2, .read = 2.5, .total_written = 8, .total_read = 10};
}

TEST(Estimate, RingByHand) {
  // 6 hops of 1 us, and the busiest rank writes and reads 2.5 MB at 1 GB/s; no fill, as it has a step for every hop.
  EXPECT_NEAR(estimate_seconds(ring_of_four(), 4, 1'000'000, machine_of(4)), 6e-6 + 2.5e-3, kTiny);
}

TEST(Estimate, FewCoresShareTheWorkAndPayForSwitching) {
  // On two cores 10 MB must be copied by two, and a hop costs the turns of two ranks; on one core those of four.
  EXPECT_NEAR(estimate_seconds(ring_of_four(), 4, 1'000'000, machine_of(2)), 60e-6 + 5e-3, kTiny);
  EXPECT_NEAR(estimate_seconds(ring_of_four(), 4, 1'000'000, machine_of(1)), 120e-6 + 10e-3, kTiny);
}

TEST(Estimate, ReadingCountsAsMuchAsWriting) {
  // One-shot writes 2 MB and reads 5 MB: as long as 3.5 MB copied. On two cores 8 + 20 MB, as 14 MB copied by two.
  EXPECT_NEAR(estimate_seconds(one_shot_of_four(), 4, 1'000'000, machine_of(4)), 1e-6 + 3.5e-3, kTiny);
  EXPECT_NEAR(estimate_seconds(one_shot_of_four(), 4, 1'000'000, machine_of(2)), 10e-6 + 7e-3, kTiny);
  CostSummary swapped = one_shot_of_four();
  std::swap(swapped.written, swapped.read);
  std::swap(swapped.total_written, swapped.total_read);
  for (int num_cores : {1, 2, 4})
    EXPECT_EQ(estimate_seconds(swapped, 4, 1'000'000, machine_of(num_cores)),
              estimate_seconds(one_shot_of_four(), 4, 1'000'000, machine_of(num_cores)));
}

TEST(Estimate, ChainByHandHasFillForHopsOfOtherRanks) {
  // 6 hops, 2 of them in steps of its own: 4 slices of fill. 8 MB are sent in 2 steps: messages of 4 MB, which take 16
  // passes of four slices: of 61.04 KB, rounded up to whole ones. The busiest rank writes and reads 12 MB.
  const double fill = 4 * 62 * 1024 / 1e9;
  EXPECT_NEAR(estimate_seconds(chain_of_four(), 4, 4'000'000, machine_of(4)), 6e-6 + fill + 12e-3, kTiny);
  // 100 bytes are one slice of 100 bytes.
  EXPECT_NEAR(estimate_seconds(chain_of_four(), 4, 100, machine_of(4)), 6e-6 + 4 * 100 / 1e9 + 300 / 1e9, kTiny);
}

TEST(Estimate, SharedCoresPayForEveryMessage) {
  CostSummary ring = ring_of_four();
  ring.messages = 24;
  ring.total_in_slots = 12;
  ring.total_received = 6;
  Machine machine = machine_of(2);
  machine.message_s = 1e-6;
  // 6 hops of 10 us, and 24 messages of one slice for two cores.
  EXPECT_NEAR(estimate_seconds(ring, 4, 0, machine), 60e-6 + 12e-6, kTiny);
  // Messages of a quarter of 1 MiB, 4 slices of 64 KB each. 10 MiB to copy.
  EXPECT_NEAR(estimate_seconds(ring, 4, size_t{1} << 20, machine), 60e-6 + 4 * 12e-6 + 5 * 1.048576e-3, kTiny);
  // With a core for each they are handled while it waits.
  machine.num_cores = 4;
  EXPECT_NEAR(estimate_seconds(ring, 4, 0, machine), 6e-6, kTiny);
}

TEST(Estimate, SharedCoresLoseSlotsFromTheCache) {
  CostSummary ring = ring_of_four();
  ring.total_in_slots = 12;
  ring.total_received = 6;
  ring.messages = 24;
  ring.links = 4;
  Machine machine = machine_of(2);
  machine.near_Bps = 4e9;
  machine.cache_bytes = 4 * 8 * 65536.;
  constexpr double kMiB = 1 << 20;
  // Slots of 2 MiB and as much of the buffers: two thirds of them are gone, so that a byte takes 0.25 + 2/3 · 0.75 =
  // 0.75 ns. Of the buffers' 4 MiB two thirds are as well.
  EXPECT_NEAR(estimate_seconds(ring, 4, size_t{1} << 20, machine), 60e-6 + 10 * kMiB * 0.75e-9 / 2, kTiny);
  // With four times the links there are 8 MiB of them, of which 6 MiB are used, once each, and all the buffers' 4 MiB
  // come on top: 10/12 are gone.
  ring.links = 16;
  const double many = 6 * kMiB * (0.25e-9 + 0.75e-9 * 10 / 12), own = 4 * kMiB * 0.75e-9;
  EXPECT_NEAR(estimate_seconds(ring, 4, size_t{1} << 20, machine), 60e-6 + (many + own) / 2, kTiny);
}

TEST(Estimate, SharedCoresFetchSlotsThatGoOneWay) {
  CostSummary ring = ring_of_four();
  ring.total_in_slots = 12;
  ring.total_received = 6;
  ring.messages = 24;
  Machine machine = machine_of(2);
  machine.near_Bps = 5e9;
  // No slots are in use, as far as the model knows, and 4 MB of buffers: a quarter of the 6 MB is still with its
  // reader, and fetched by two cores in 4 times what copying it at 5 GB/s takes, 1.2 ms.
  const double exchanged = estimate_seconds(ring, 4, 1'000'000, machine);
  ring.total_one_way = 6;
  EXPECT_NEAR(estimate_seconds(ring, 4, 1'000'000, machine), exchanged + 0.6e-3, kTiny);
  // Over three links, as messages of 250 KB are cut into four of 62,528 bytes, there are 1.5 MB of slots.
  ring.total_one_way = 0;
  ring.links = 3;
  const double through_slots = estimate_seconds(ring, 4, 1'000'000, machine), kept = 4 / (4 + 3 * 8 * .062528 + 4);
  ring.total_one_way = 6;
  EXPECT_NEAR(estimate_seconds(ring, 4, 1'000'000, machine), through_slots + 2.4e-3 * kept * kept, kTiny);
  // With a core for each, slots are fetched whoever had them.
  machine.num_cores = 4;
  const double apart = estimate_seconds(ring, 4, 1'000'000, machine);
  ring.total_one_way = 0;
  EXPECT_EQ(estimate_seconds(ring, 4, 1'000'000, machine), apart);
}

TEST(Estimate, AMulticastIsAMessageForEachReaderAndOneSlot) {
  // A slot of 1 MiB that three ranks read: messages of 1 MiB, 16 slices of 64 KB each, and 1 MiB of slots in use.
  CostSummary multicast = one_shot_of_four();
  multicast.written = multicast.read = multicast.total_written = 1;
  multicast.total_read = multicast.total_received = 3;
  multicast.total_in_slots = 4;
  multicast.messages = 3;
  multicast.links = 4;
  Machine machine = machine_of(2);
  machine.message_s = 1e-6;
  machine.near_Bps = 4e9;
  machine.cache_bytes = 1 << 20;
  constexpr double kMiB = 1 << 20;
  // One hop of 10 us and 48 slices for two cores. Reading 3 MiB counts as copying 2.25, writing one as a quarter. Half
  // of it is gone by then: 0.625 ns a byte.
  EXPECT_NEAR(estimate_seconds(multicast, 4, size_t{1} << 20, machine), 10e-6 + 24e-6 + 2.5 * kMiB * 0.625e-9 / 2,
              kTiny);
}

TEST(Estimate, OnCoresOfTheirOwnRanksFetchWhatLiesInSlots) {
  CostSummary ring = ring_of_four();
  ring.total_in_slots = 12;
  Machine machine = machine_of(4);
  machine.near_Bps = 4e9;
  machine.cache_bytes = 4 << 20;
  constexpr double kMiB = 1 << 20;
  // Of the 10 MiB to copy 6 lie in slots. Of the buffers' 4 MiB half is at hand: 0.625 ns a byte. One rank in four.
  EXPECT_NEAR(estimate_seconds(ring, 4, size_t{1} << 20, machine), 6e-6 + (6 * 1e-9 + 4 * 0.625e-9) * kMiB / 4, kTiny);
  // Hardly any bytes: slots cost as much, buffers a quarter.
  EXPECT_NEAR(estimate_seconds(ring, 4, 16, machine), 6e-6 + (6 * 1e-9 + 4 * 0.25e-9) * 16 / 4, 1e-12);
}

TEST(Estimate, NoBytesStillCostHops) {
  EXPECT_NEAR(estimate_seconds(ring_of_four(), 4, 0, machine_of(4)), 6e-6, kTiny);
  EXPECT_EQ(estimate_seconds({}, 1, 0, machine_of(1)), 0);
}

TEST(Estimate, GrowsWithSizeHopsAndRanksPerCore) {
  for (const CostSummary& summary : {ring_of_four(), chain_of_four()}) {
    double before = -1;
    for (size_t bytes = 1; bytes < (size_t{1} << 32); bytes = bytes * 3 / 2 + 1) {
      const double seconds = estimate_seconds(summary, 4, bytes, machine_of(4));
      EXPECT_GT(seconds, before) << bytes;
      EXPECT_GE(estimate_seconds(summary, 4, bytes, machine_of(3)), seconds);
      CostSummary longer = summary;
      ++longer.hops;
      EXPECT_GT(estimate_seconds(longer, 4, bytes, machine_of(4)), seconds);
      before = seconds;
    }
  }
}

TEST(Estimate, OnSharedCoresGrowsWithSizeMessagesAndLinks) {
  CostSummary ring = ring_of_four();
  ring.total_in_slots = 12;
  ring.total_received = 6;
  ring.messages = 24;
  ring.links = 4;
  Machine machine = default_machine();
  machine.num_cores = 2;
  double before = -1;
  for (size_t bytes = 1; bytes < (size_t{1} << 32); bytes *= 2) {
    const double seconds = estimate_seconds(ring, 4, bytes, machine);
    EXPECT_GT(seconds, before) << bytes;
    CostSummary more = ring;
    more.links = 16;
    EXPECT_GE(estimate_seconds(more, 4, bytes, machine), seconds) << bytes;
    more = ring;
    more.messages = 48;  // each half as long: more slices while a message is a single one, of up to 8 KB
    if (bytes <= 24 * 8192 / 6) {
      EXPECT_GT(estimate_seconds(more, 4, bytes, machine), seconds) << bytes;
    }
    before = seconds;
  }
}

TEST(Estimate, DefaultMachineIsPlausible) {
  const Machine machine = default_machine();
  EXPECT_GE(machine.num_cores, 1);
  EXPECT_GT(machine.switch_s, machine.alpha_s);
  EXPECT_GT(machine.alpha_s, 0);
  EXPECT_GT(machine.copy_Bps, 1e8);
  EXPECT_GT(machine.near_Bps, machine.copy_Bps);
  EXPECT_GT(machine.cache_bytes, 1e6);
  EXPECT_GT(machine.message_s, 0);
}

TEST(Choose, TakesTheFastestAndSaysWhy) {
  const std::vector<Candidate> candidates = {
      {"long", {.steps = 7, .hops = 60, .sent = 1.5, .written = 2, .read = 3, .total_written = 8, .total_read = 12}},
      {"heavy", {.steps = 2, .hops = 4, .sent = 2, .written = 20, .read = 40, .total_written = 80, .total_read = 120}}};
  const Choice large = choose(candidates, 4, 1'000'000, machine_of(4));
  EXPECT_EQ(large.index, 0);
  EXPECT_EQ(large.seconds.size(), 2u);
  EXPECT_LT(large.seconds[0], large.seconds[1]);
  // long: 60 us of hops, 53 slices of 53,632 bytes (a quarter of 214,285, to the next 64) and 2.5 MB copied.
  // heavy: 4 us, 2 slices of kSlotBytes and 30 MB.
  EXPECT_EQ(large.reason,
            "closed-form model: long 5.4 ms, heavy 30.1 ms (4 ranks on 4 cores, 1000000 bytes; constants built in)");
  const Choice small = choose(candidates, 4, 1, machine_of(1));
  EXPECT_EQ(small.index, 1);
  EXPECT_NE(small.reason.find("(4 ranks on 1 core, 1 byte; constants built in)"), std::string::npos) << small.reason;
}

// Both write 2 S, and one-shot saves a hop; but two-shot reads half as much, which decides as soon as bytes do.
TEST(Choose, OneShotForSmallVectorsOnly) {
  const std::vector<Candidate> candidates = {{"one_shot", one_shot_of_four()}, {"two_shot", two_shot_of_four()}};
  // 1 us more against (3.5 - 2.25) S less at 1 GB/s: they meet at 800 bytes.
  EXPECT_EQ(choose(candidates, 4, 799, machine_of(4)).index, 0);
  EXPECT_EQ(choose(candidates, 4, 801, machine_of(4)).index, 1);
  // On two cores 10 us more against (14 - 9) / 2 S less: at 4,000 bytes.
  EXPECT_EQ(choose(candidates, 4, 3'999, machine_of(2)).index, 0);
  EXPECT_EQ(choose(candidates, 4, 4'001, machine_of(2)).index, 1);
}

TEST(Choose, TheFirstOfEqualsWins) {
  const std::vector<Candidate> candidates = {{"a", ring_of_four()}, {"b", ring_of_four()}};
  EXPECT_EQ(choose(candidates, 4, 100, machine_of(4)).index, 0);
}

TEST(Choose, NothingToChooseFromIsAnError) {
  EXPECT_THROW(choose({}, 4, 100, machine_of(4)), UsageError);
  EXPECT_THROW(choose_on_cluster({}, 4, 100, {}), UsageError);
}

TEST(Choose, OnAClusterByTheRecurrence) {
  // A star that multicasts to 3 other hosts sends 3 times through one card; a chain sends once a card but hops 3 times.
  const std::vector<Schedule> candidates = {testing::broadcast_along({-1, 0, 0, 0}),
                                            testing::broadcast_along({-1, 0, 1, 2})};
  const Cluster cluster{4, 1, 1e-3, 1e8};
  const Choice small = choose_on_cluster(candidates, 1000, 4, cluster);
  EXPECT_EQ(small.index, 0);
  EXPECT_NE(small.reason.find("(4x1 ranks, 1000 elements of 4 bytes)"), std::string::npos) << small.reason;
  const Choice large = choose_on_cluster(candidates, 10'000'000, 4, cluster);
  EXPECT_EQ(large.index, 1);
  for (size_t i = 0; i < candidates.size(); ++i)
    EXPECT_EQ(large.seconds[i], time_schedule(candidates[i], 10'000'000, 4, cluster).seconds);
}

}  // namespace
}  // namespace ringtree
