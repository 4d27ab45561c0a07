// What reading and writing memory takes cores, by hand. kSize: bytes of a message; kCore: what a core moves through
// slots, kTouched: what it reads or writes, in bytes per second.
#include <gtest/gtest.h>

#include <limits>

#include "core/algorithms/registry.h"
#include "core/base/error.h"
#include "tests/core/simulate/networks.h"

namespace ringtree::core_work {  // its names are short, and test files are compiled together
namespace {

constexpr size_t kBytes = 50000;  // one slice
constexpr double kCore = 10e9, kTouched = 4e9;
constexpr double kSize = kBytes;

/// Each message crosses the cores of both ends: link r is that of rank r.
SimulatedNetwork cores_of(const Traffic& traffic) {
  SimulatedNetwork network = testing::uniform(traffic, testing::kForEver, 0);
  network.link_rate.assign(static_cast<size_t>(traffic.shape.num_ranks), kCore);
  network.link_latency.assign(network.link_rate.size(), 0);
  network.route_links.clear();
  for (size_t i = 0; i < network.pair_src.size(); ++i)
    network.route_links.insert(network.route_links.end(), {network.pair_src[i], network.pair_dst[i]});
  network.memory = {kCore, {1}, {kTouched}, {}};
  for (int rank = 0; rank < traffic.shape.num_ranks; ++rank) network.memory.link_core.push_back(rank);
  return network;
}

Simulated run(const Schedule& schedule, const SimulatedNetwork& network, const WireProtocol& protocol = {}) {
  return simulate(Traffic(schedule), {kBytes, 1, 1, protocol.slot_data()}, network, protocol);
}

/// Rank 0 sends one slot to all others, who keep it.
Schedule multicast(int num_ranks) {
  ScheduleShape shape{"multicast", Collective::all_reduce, num_ranks, 0, 1, 1, {}};
  return Schedule(shape, [num_ranks](ProgramBuilder& builder) {
    Step step;
    if (builder.rank() == 0) {
      step.verb = Verb::send;
      step.src = kInput;
      for (int rank = 1; rank < num_ranks; ++rank) step.send_to.push_back(rank);
    } else {
      step.verb = Verb::recv;
      step.recv = {{0, 0}};
      step.dst = scratch(builder.reserve_scratch(1));
    }
    builder.add(step);
  });
}

// The sender reads its input and writes a slot; then the receiver reads the slot and writes its scratch.
TEST(CoreWork, OneMessage) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  const Simulated out = run(schedule, cores_of(Traffic(schedule)));
  EXPECT_NEAR(out.seconds, 2 * (kSize / kCore + 2 * kSize / kTouched), 1e-11);
  EXPECT_EQ(out.link_bytes, (std::vector<int64_t>{kBytes, kBytes}));  // of messages, not of memory
}

// Each core takes the bytes, one after the other. Links that are no cores are crossed at once.
TEST(CoreWork, WithoutATableAMessageTakesItsBytes) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  SimulatedNetwork network = cores_of(Traffic(schedule));
  network.memory = {kCore, {}, {}, {0, 1}};
  EXPECT_NEAR(run(schedule, network).seconds, 2 * kSize / kCore, 1e-11);
  network.memory = {};
  EXPECT_NEAR(run(schedule, network).seconds, kSize / kCore, 1e-11);
}

// A core that reads is slower than the one that wrote, and has nothing to copy slower than that.
TEST(CoreWork, EachEndCopiesAtItsOwnRate) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  SimulatedNetwork network = cores_of(Traffic(schedule));
  network.memory = {kCore, {}, {}, {0, 1}};
  network.copy_rate = {5e9, 2e9};
  const Simulated out = run(schedule, network);
  EXPECT_NEAR(out.seconds, kSize / 5e9 + kSize / 2e9, 1e-11);
  EXPECT_NEAR(out.limit.copy, out.seconds, 1e-11);
  network.link_rate = {1e9, kCore};
  EXPECT_NEAR(run(schedule, network).limit.link, kSize / 1e9, 1e-11);
}

// The core that reads folds, too, at its share of the core: two at once take turns.
TEST(CoreWork, ACoreFoldsWhatItReads) {
  ScheduleShape shape{"fold", Collective::all_reduce, 2, 0, 1, 1, {}};
  const auto folds = [&](int num_lanes) {
    return Schedule(shape, [num_lanes](ProgramBuilder& builder) {
      for (int lane = 0; lane < num_lanes; ++lane) {
        Step step;
        step.lane = lane;
        step.src = kInput;
        if (builder.rank() == 0) {
          step.verb = Verb::send;
          step.send_to = {1};
          step.send_tag = lane;
        } else {
          step.verb = Verb::recv_reduce_copy;
          step.recv = {{0, lane}};
          step.dst = scratch(builder.reserve_scratch(1));
        }
        builder.add(step);
      }
    });
  };
  for (const int num_lanes : {1, 2}) {
    const Schedule schedule = folds(num_lanes);
    SimulatedNetwork network = cores_of(Traffic(schedule));
    network.memory = {kCore, {}, {}, {kNoCore, 1}};
    network.link_rate[0] = testing::kForEver;
    network.reduce_rate = {testing::kForEver, 5e9};
    EXPECT_NEAR(run(schedule, network).seconds, num_lanes * (kSize / kCore + kSize / 5e9), 1e-11);
  }
}

// A message is read when a slice takes it: the second while the first is folded has to wait, but is written meanwhile.
TEST(CoreWork, ACoreReadsWhatASliceTakes) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  SimulatedNetwork network = cores_of(Traffic(schedule));
  network.memory = {kCore, {}, {}, {0, 1}};
  network.link_rate = {4 * kCore, kCore};
  const WireProtocol protocol;
  const double slice = double{kSlotBytes} / kCore;
  const Simulated out = simulate(Traffic(schedule), {3 * kSlotBytes, 1, 1, kSlotBytes}, network, protocol);
  EXPECT_NEAR(out.seconds, slice / 4 + 3 * slice, 1e-11);
  EXPECT_NEAR(out.link_busy[0], 3 * slice / 4, 1e-11);
  EXPECT_NEAR(out.link_busy[1], 3 * slice, 1e-11);
}

// Half of what is on the wire is data; buffers hold data alone, slots all of it.
TEST(CoreWork, FlagsLieInSlotsOnly) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  WireProtocol protocol;
  protocol.efficiency = 0.5;
  protocol.slot_bytes = 4 * kSlotBytes;
  EXPECT_NEAR(run(schedule, cores_of(Traffic(schedule)), protocol).seconds,
              2 * (2 * kSize / kCore + 2 * kSize / kTouched + kSize / kTouched), 1e-11);
}

// Two messages that a core sends share it; two others read them at the same time.
TEST(CoreWork, ACoreDoesTheWorkOfAllItsMessages) {
  const Schedule schedule = testing::messages(3, {{0, 1}, {0, 2}});
  EXPECT_NEAR(run(schedule, cores_of(Traffic(schedule))).seconds, 3 * (kSize / kCore + 2 * kSize / kTouched), 1e-11);
}

// What two read is written once, and so is its source read once.
TEST(CoreWork, AMulticastIsWrittenOnce) {
  for (const int ranks : {3, 6}) {
    const Schedule schedule = multicast(ranks);
    EXPECT_NEAR(run(schedule, cores_of(Traffic(schedule))).seconds, 2 * (kSize / kCore + 2 * kSize / kTouched), 1e-11)
        << ranks;
  }
}

// A link that stands for all cores does what either end does.
TEST(CoreWork, AllCoresTogether) {
  const Schedule schedule = multicast(3);
  SimulatedNetwork network = cores_of(Traffic(schedule));
  network.memory.link_core.assign(3, kNoCore);
  network.link_rate.assign(3, testing::kForEver);
  network.link_rate[0] = kCore;
  network.memory.link_core[0] = kAllCores;
  // The sender reads its input and writes the slot once, and then two read the slot and write what they keep.
  EXPECT_NEAR(run(schedule, network).seconds, 3 * (kSize / kCore + 2 * kSize / kTouched), 1e-11);
}

TEST(CoreWork, ARankCopiesAtHalfOfWhatItTouches) {
  ScheduleShape shape{"copies", Collective::all_reduce, 2, 0, 1, 1, {}};
  const Schedule schedule(shape, [](ProgramBuilder& builder) {
    Step step;
    step.verb = Verb::copy;
    step.src = kInput;
    step.dst = kOutput;
    builder.add(step);
  });
  SimulatedNetwork network = cores_of(Traffic(schedule));
  EXPECT_NEAR(run(schedule, network).seconds, 2 * kSize / kTouched, 1e-11);
  network.copy_rate.assign(2, kTouched / 4);
  EXPECT_NEAR(run(schedule, network).seconds, 4 * kSize / kTouched, 1e-11);
}

/// Each rank folds its input into its scratch, without a message.
Schedule folds_alone() {
  ScheduleShape shape{"folds", Collective::all_reduce, 2, 0, 1, 1, {}};
  return Schedule(shape, [](ProgramBuilder& builder) {
    Step step;
    step.verb = Verb::reduce;
    step.src = kInput;
    step.dst = scratch(builder.reserve_scratch(1));
    builder.add(step);
  });
}

// It reads and writes two buffers, as a copy does, and folds: where the table says nothing, folding alone takes time.
TEST(CoreWork, AFoldWithoutMessagesTakesMemoryAndFolding) {
  const Schedule schedule = folds_alone();
  SimulatedNetwork network = cores_of(Traffic(schedule));
  network.reduce_rate.assign(2, 5e9);
  EXPECT_NEAR(run(schedule, network).seconds, kSize / 5e9 + 2 * kSize / kTouched, 1e-11);
  network.memory = {};
  EXPECT_NEAR(run(schedule, network).seconds, kSize / 5e9, 1e-11);
}

// A switch: it copies in no time, whatever its table says, and a fold is no other touching of memory.
TEST(CoreWork, AFoldIsFoldingAloneWhereARankCopiesInNoTime) {
  const Schedule schedule = folds_alone();
  SimulatedNetwork network = cores_of(Traffic(schedule));
  network.reduce_rate.assign(2, 5e9);
  network.copy_rate.assign(2, std::numeric_limits<double>::infinity());
  EXPECT_NEAR(run(schedule, network).seconds, kSize / 5e9, 1e-11);
}

// A message of eight slots goes through two slots: L is 128 KB, B what the rank has in a buffer, 512 KB. Slots are gone
// through at the pace of L + min(L, B) = 256 KB, buffers at that of B + L = 640 KB, each with an entry of its own. The
// last of the eight is read when all are written.
TEST(CoreWork, SlotsAndBuffersHaveTheirOwnPace) {
  const Schedule schedule = testing::messages(2, {{0, 1}});
  SimulatedNetwork network = cores_of(Traffic(schedule));
  network.memory.bytes = {256 << 10, 640 << 10};
  network.memory.rate = {8e9, 1e9};
  WireProtocol protocol;
  protocol.slots = 2;
  const double bytes = 512 << 10;
  const auto seconds = [&] {
    return simulate(Traffic(schedule), {512 << 10, 1, 1, protocol.slot_data()}, network, protocol).seconds;
  };
  EXPECT_NEAR(seconds(), 9 * bytes / 8 * (1 / kCore + 1 / 8e9 + 1 / 1e9), 1e-10);
}

// A rank that passes a message on touches no buffer: B is 0, and L the slots of both its links, 256 KB.
TEST(CoreWork, WithoutBuffersSlotsHaveThePaceOfSlots) {
  ScheduleShape shape{"relay", Collective::all_reduce, 3, 0, 1, 1, {}};
  const Schedule schedule(shape, [](ProgramBuilder& builder) {
    Step step;
    step.verb = builder.rank() == 0 ? Verb::send : builder.rank() == 1 ? Verb::recv_send : Verb::recv;
    if (builder.rank() > 0) step.recv = {{builder.rank() - 1, 0}};
    if (builder.rank() < 2) step.send_to = {builder.rank() + 1};
    if (builder.rank() == 0) step.src = kInput;
    if (builder.rank() == 2) step.dst = scratch(builder.reserve_scratch(1));
    builder.add(step);
  });
  SimulatedNetwork network = cores_of(Traffic(schedule));
  for (const int rank : {0, 2}) network.memory.link_core[rank] = kNoCore, network.link_rate[rank] = testing::kForEver;
  network.memory.bytes = {256 << 10, 512 << 10};
  network.memory.rate = {8e9, 1e9};
  WireProtocol protocol;
  protocol.slots = 2;
  const Simulated out = simulate(Traffic(schedule), {512 << 10, 1, 1, protocol.slot_data()}, network, protocol);
  // Its core takes all of the message in and sends it on: what it is in use for, whatever overlaps.
  EXPECT_NEAR(out.link_busy[1], 2 * double{512 << 10} * (1 / kCore + 1 / 8e9), 1e-10);
}

// 1/4 below 1000 bytes and 1 above 100000; halfway in the logarithm halfway between them.
TEST(CoreWork, PaceBetweenTwoSizes) {
  const CoreMemory memory{1, {1e3, 1e5}, {4, 1}, {}};
  EXPECT_EQ(pace(memory, 0), 0.25);
  EXPECT_EQ(pace(memory, 1e3), 0.25);
  EXPECT_NEAR(pace(memory, 1e4), 0.625, 1e-12);
  EXPECT_EQ(pace(memory, 1e5), 1);
  EXPECT_EQ(pace(memory, 1e9), 1);
}

// A call that goes through less than the first size has that size's rate; one beyond the last is slower.
TEST(CoreWork, BeyondTheCacheACallIsSlower) {
  const Schedule schedule = make_schedule("ring", Collective::all_reduce, 4);
  const Traffic traffic(schedule);
  SimulatedNetwork cached = cores_of(traffic);
  cached.memory.rate = {80e9};
  SimulatedNetwork network = cached;
  network.memory.bytes = {1e6, 16e6};
  network.memory.rate = {80e9, 8e9};
  const auto seconds = [&](const SimulatedNetwork& on, size_t bytes) {
    return simulate(traffic, {bytes, 1, 1, 0}, on, {}).seconds;
  };
  EXPECT_EQ(seconds(network, size_t{64} << 10), seconds(cached, size_t{64} << 10));
  EXPECT_GT(seconds(network, size_t{64} << 20), 1.5 * seconds(cached, size_t{64} << 20));
}

// Ranks of a ring are alike with memory, too; where a rank's core is another link for one of them, they are not.
TEST(CoreWork, OneOfEachDoesWhatAllDo) {
  const Schedule schedule = make_schedule("ring", Collective::all_reduce, 16);
  const Traffic traffic(schedule);
  SimulatedNetwork network = cores_of(traffic);
  SimulateOptions full;
  full.use_symmetry = false;
  const auto expect_same = [&](bool is_smaller) {
    const CallSize size{size_t{1} << 20, 1, 1, 0};
    const Simulated one = simulate(traffic, size, network, {}), all = simulate(traffic, size, network, {}, full);
    EXPECT_EQ(one.num_lanes < all.num_lanes, is_smaller);
    EXPECT_NEAR(one.seconds, all.seconds, 1e-9 * all.seconds);
    EXPECT_EQ(one.link_bytes, all.link_bytes);
  };
  expect_same(true);
  network.memory.link_core[5] = kNoCore;
  expect_same(false);
}

}  // namespace
}  // namespace ringtree::core_work
