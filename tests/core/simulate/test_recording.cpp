// What is recorded of a simulation: by hand, and held against what a schedule demands and links carry, on every
// algorithm. The checks are tried on recordings that are wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "core/algorithms/registry.h"
#include "tests/core/simulate/networks.h"

namespace ringtree {
namespace {

struct RecordedCall {
  Traffic traffic;
  CallSize size;
  SimulatedNetwork network;
  WireProtocol protocol;
  Recording recording;
  Simulated found;

  RecordedCall(const Schedule& schedule, CallSize call, const std::function<SimulatedNetwork(const Traffic&)>& make,
               WireProtocol with = {})
      : traffic(schedule), size(call), network(make(traffic)), protocol(with) {
    SimulateOptions options;
    options.recording = &recording;
    found = simulate(traffic, size, network, protocol, options);
  }
};

/// What is wrong with a recording; empty if nothing is. The rules of simulate.h, once more and slowly.
std::string wrong(const RecordedCall& of) {
  const auto& [slices, messages] = std::tie(of.recording.slices, of.recording.messages);
  Ticks end = 0;
  std::map<std::tuple<int, int, int>, Ticks> lane_free;  // by rank, channel and lane
  for (const RecordedSlice& slice : slices) {
    Ticks& free = lane_free[{slice.rank, slice.channel, slice.lane}];
    if (slice.begin < free || slice.end < slice.begin) return "a lane does two slices at once";
    free = slice.end;
    end = std::max(end, slice.end);
  }
  if (end != ticks_of(of.found.seconds)) return "it does not end with the call";
  std::vector<int64_t> link_bytes(static_cast<size_t>(of.network.num_links()));
  std::map<std::tuple<int, int, int, int>, Ticks> wire_free;  // by both ends' lanes
  for (const RecordedMessage& message : messages) {
    const RecordedSlice& from = slices[static_cast<size_t>(message.sent_by)];
    const RecordedSlice& to = slices[static_cast<size_t>(message.read_by)];
    if (from.rank != message.src_rank || to.rank != message.dst_rank) return "a message is another rank's";
    if (from.channel != message.channel || to.channel != message.channel) return "a message changes its channel";
    if (from.bytes != to.bytes || from.pass != to.pass || from.slice != to.slice)
      return "a slice is cut in another way";
    if (message.bytes != of.protocol.wire_bytes(static_cast<size_t>(from.bytes))) return "a message has other bytes";
    if (message.begin < from.end) return "a message leaves before it is there";
    if (to.begin < message.arrival) return "a message is read before it is there";
    double latency = of.protocol.step_latency;
    size_t pair = 0;
    while (of.network.pair_src[pair] != from.rank || of.network.pair_dst[pair] != to.rank) ++pair;
    for (int64_t i = of.network.route_offsets[pair]; i < of.network.route_offsets[pair + 1]; ++i) {
      const auto link = static_cast<size_t>(of.network.route_links[static_cast<size_t>(i)]);
      latency += of.network.link_latency[link];
      link_bytes[link] += message.bytes;
      if (static_cast<double>(message.end - message.begin) / kTicksPerSecond * of.network.link_rate[link] <
          static_cast<double>(message.bytes) * (1 - 1e-6) - 1)
        return "a message is faster than its link";
    }
    if (message.arrival - message.end != ticks_of(latency)) return "a message arrives at another time";
    Ticks& free = wire_free[{from.rank * 1000 + from.lane, to.rank * 1000 + to.lane, from.channel, 0}];
    if (message.begin < free) return "two messages of one connection cross at once";
    free = message.end;
  }
  if (link_bytes != of.found.link_bytes) return "links carried other bytes";
  return "";
}

SimulatedNetwork uniform(const Traffic& traffic) { return testing::uniform(traffic, 2e9, 1e-6, 1.5e9, 1e10); }

// 1000 bytes are 2000 on the wire at 1 GB/s. The slice that reads them only receives.
TEST(Recording, OneMessage) {
  WireProtocol protocol;
  protocol.efficiency = 0.5;
  const RecordedCall one(
      testing::messages(2, {{0, 1}}), {1000, 1, 1, 0},
      [](const Traffic& traffic) {
        SimulatedNetwork network = testing::uniform(traffic, 1e9, 5e-6);
        network.link_rate[3] = 2e9;  // of the two that it crosses, the first is the slower one
        network.launch_cost = 10e-6;
        return network;
      },
      protocol);
  ASSERT_EQ(one.recording.slices.size(), 2u);
  ASSERT_EQ(one.recording.messages.size(), 1u);
  const RecordedSlice& sent = one.recording.slices[0];
  EXPECT_EQ(std::tuple(sent.rank, sent.begin, sent.end, sent.bytes), std::tuple(0, 10'000'000, 10'000'000, 1000));
  const RecordedMessage& message = one.recording.messages[0];
  EXPECT_EQ(std::tuple(message.begin, message.end, message.arrival), std::tuple(10'000'000, 12'000'000, 17'000'000));
  EXPECT_EQ(std::tuple(message.bytes, message.sent_by, message.read_by, message.limit), std::tuple(2000, 0, 1, 0));
  EXPECT_EQ(wrong(one), "");
}

// A fold is busy: 1000 bytes, two folds at 1 GB/s.
TEST(Recording, FoldsTakeTime) {
  const RecordedCall one(
      make_schedule("one_shot", Collective::all_reduce, 3), {1000, 1, 1, kSlotBytes},
      [](const Traffic& traffic) { return testing::uniform(traffic, testing::kForEver, 0, testing::kForEver, 1e9); });
  EXPECT_EQ(std::count_if(one.recording.slices.begin(), one.recording.slices.end(),
                          [](const RecordedSlice& slice) { return slice.end - slice.begin == 2'000'000; }),
            3);
}

// Several channels, slices and passes. What symmetry would leave out is there, and the result is the same without a
// recording.
TEST(Recording, EverythingOfEveryAlgorithm) {
  int num_passes = 0;
  for (const char* name : {"ring", "tree", "double_tree", "halving_doubling", "one_shot", "two_shot", "chain"})
    for (const int n : {2, 8})
      for (const size_t count : {size_t{1}, size_t{3001}, size_t{400'000}}) {
        const RecordedCall one(make_schedule(name, Collective::all_reduce, n), {count, 4, 3, 0}, uniform);
        EXPECT_EQ(wrong(one), "") << name << " on " << n << ", " << count;
        const PlacedTraffic placed(one.traffic, one.size, one.network, one.protocol);
        EXPECT_EQ(one.found.num_events, num_recorded(placed)) << name;
        EXPECT_EQ(static_cast<int64_t>(one.recording.slices.size() + one.recording.messages.size()),
                  one.found.num_events);
        num_passes = std::max(num_passes, static_cast<int>(placed.cut.num_passes));
        const Simulated without = simulate(one.traffic, one.size, one.network, one.protocol);
        EXPECT_EQ(without.rank_seconds, one.found.rank_seconds) << name;
        EXPECT_EQ(without.link_bytes, one.found.link_bytes) << name;
      }
  EXPECT_GT(num_passes, 1);
}

TEST(Recording, ChecksFindWhatIsWrong) {
  const Schedule ring = make_schedule("ring", Collective::all_reduce, 4);
  const auto change = [&](const std::function<void(Recording&)>& how) {
    RecordedCall one(ring, {40'000, 4, 2, 0}, uniform);
    how(one.recording);
    return wrong(one);
  };
  EXPECT_EQ(change([](Recording&) {}), "");
  EXPECT_EQ(change([](Recording& of) { of.messages.back().begin = 0; }), "a message leaves before it is there");
  const auto at_once = [](Recording& of) {
    RecordedMessage& message = of.messages[0];
    message.arrival -= message.end - message.begin;
    message.end = message.begin;
  };
  EXPECT_EQ(change(at_once), "a message is faster than its link");
  EXPECT_EQ(change([](Recording& of) { of.messages[3].arrival += 1; }), "a message is read before it is there");
  EXPECT_EQ(change([](Recording& of) { of.messages[3].arrival -= 1; }), "a message arrives at another time");
  EXPECT_EQ(change([](Recording& of) { of.messages.pop_back(); }), "links carried other bytes");
  EXPECT_EQ(change([](Recording& of) { ++of.messages[5].bytes; }), "a message has other bytes");
  EXPECT_EQ(change([](Recording& of) { std::swap(of.messages[0].read_by, of.messages[1].read_by); }),
            "a message is another rank's");
  EXPECT_EQ(change([](Recording& of) { of.slices.back().end += 1; }), "it does not end with the call");
}

TEST(Recording, TooMuchIsRefusedBeforeItIsSimulated) {
  const Traffic traffic(make_schedule("ring", Collective::all_reduce, 4));
  const SimulatedNetwork network = uniform(traffic);
  Recording recording;
  recording.most = 99;
  SimulateOptions options;
  options.recording = &recording;
  // Each of two channels: on each of 4 ranks 7 steps of a slice, and 6 messages.
  try {
    simulate(traffic, {1000, 4, 2, 0}, network, {}, options);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "ring on 4 ranks has 104 slices and messages with 2 channels, more than the 99 that are recorded: ask for "
        "fewer bytes, ranks or channels");
  }
  EXPECT_TRUE(recording.slices.empty());
  recording.most = 104;
  EXPECT_EQ(simulate(traffic, {1000, 4, 2, 0}, network, {}, options).num_events, 104);
}

}  // namespace
}  // namespace ringtree
