// The sliced recurrence against times derived by hand from its rules. Against the engine's emulated time, which is
// computed on the way: tests/core/engine/test_virtual_time.cpp.
#include <gtest/gtest.h>

#include "core/algorithms/registry.h"
#include "core/base/error.h"
#include "core/model/recurrence.h"
#include "core/schedule/layout.h"
#include "tests/core/model/schedules.h"

namespace ringtree {
namespace {

using testing::broadcast_along;
using testing::ring_all_reduce;

constexpr double kNegligible = 1e-12;
constexpr size_t kOneSlice = 4096;  // bytes: below kLeastSliceBytes, so one slice however it is cut

TEST(Recurrence, MessagesInsideAHostTakeNoTime) {
  const Timing timing = time_schedule(ring_all_reduce(4), size_t{1} << 20, 4, {1, 4, 1e-3, 1e6});
  EXPECT_EQ(timing.seconds, 0);
  EXPECT_EQ(timing.num_transmissions, 0);
  EXPECT_GT(timing.num_messages, 0);
}

TEST(Recurrence, OneMessageTakesAlphaPlusBytesOverBeta) {
  const Timing timing = time_schedule(broadcast_along({-1, 0}), kOneSlice, 1, {2, 1, 1e-3, 1e6});
  EXPECT_NEAR(timing.seconds, 1e-3 + kOneSlice / 1e6, kNegligible);
  EXPECT_EQ(timing.rank_seconds[0], 0);
  EXPECT_EQ(timing.network_bytes, int64_t{kOneSlice});
}

TEST(Recurrence, AnEmptyMessageStillTakesAlpha) {
  EXPECT_NEAR(time_schedule(broadcast_along({-1, 0}), 0, 4, {2, 1, 1e-3, 1e6}).seconds, 1e-3, kNegligible);
}

TEST(Recurrence, ChainCrossesTheNetworkOnceAHost) {
  // Ranks 0..3 on host 0, 4..7 on host 1: only 3 -> 4 crosses.
  const Timing timing = time_schedule(broadcast_along({-1, 0, 1, 2, 3, 4, 5, 6}), kOneSlice, 1, {2, 4, 1e-3, 1e6});
  EXPECT_NEAR(timing.seconds, 1e-3 + kOneSlice / 1e6, kNegligible);
  EXPECT_EQ(timing.num_transmissions, 1);
  EXPECT_EQ(timing.rank_seconds[3], 0);
  EXPECT_NEAR(timing.rank_seconds[4], timing.seconds, kNegligible);
}

TEST(Recurrence, SlicesStreamDownAChain) {
  // 4 slices of 64 KB in one pass over 3 hosts: the card of host 0 takes 4 slices in a row, the last then hops once
  // more.
  const size_t slice = kSlotBytes;
  const double send = static_cast<double>(slice) / 1e8;
  const Timing timing = time_schedule(broadcast_along({-1, 0, 1}), 4 * slice, 1, {3, 1, 1e-3, 1e8});
  EXPECT_NEAR(timing.seconds, 4 * send + 1e-3 + send + 1e-3, kNegligible);
}

TEST(Recurrence, RingIsTwoTimesNMinusOneHops) {
  for (int n : {2, 3, 5, 8}) {
    const double alpha = 1e-3, beta = 1e6, bytes = static_cast<double>(n) * kOneSlice;
    const Timing timing = time_schedule(ring_all_reduce(n), kOneSlice * static_cast<size_t>(n), 1, {n, 1, alpha, beta});
    EXPECT_NEAR(timing.seconds, 2 * (n - 1) * (alpha + bytes / (n * beta)), kNegligible) << n;
    EXPECT_EQ(timing.num_messages, 2 * n * (n - 1));
  }
}

TEST(Recurrence, WithALargeAlphaEightSlicesTravelAnAlpha) {
  // Nothing but slots limits the sender: a window of kSlots messages leaves whenever the one before has been read.
  const int64_t num_slices = 64;
  const size_t bytes = num_slices * kSlotBytes;
  const Timing timing = time_schedule(broadcast_along({-1, 0}), bytes, 1, {2, 1, 1.0, 1e30});
  EXPECT_EQ(timing.num_messages, num_slices);
  EXPECT_NEAR(timing.seconds, static_cast<double>(num_slices / kSlots) * 1.0, 1e-9);
}

TEST(Recurrence, TwoLinksOfAHostShareItsCard) {
  // Ranks 0 and 1 on host 0 both send their block of an all_gather to a rank of their own on host 1.
  const Schedule pairs(testing::model_shape("pairs", Collective::all_gather, 4, 4), [](ProgramBuilder& builder) {
    const int rank = builder.rank();
    if (rank < 2) builder.add(testing::model_step(Verb::send, {}, kInput, {}, {rank + 2}, rank));
    if (rank >= 2) builder.add(testing::model_step(Verb::recv, {{rank - 2, 0}}, {}, kOutput, {}, rank - 2));
  });
  const double send = kOneSlice / 1e6;
  const Timing shared = time_schedule(pairs, kOneSlice, 1, {2, 2, 1e-3, 1e6});
  EXPECT_NEAR(shared.rank_seconds[2], 1e-3 + send, kNegligible);  // equal times: the lower rank goes first
  EXPECT_NEAR(shared.rank_seconds[3], 1e-3 + 2 * send, kNegligible);
  const Timing own = time_schedule(pairs, kOneSlice, 1, {4, 1, 1e-3, 1e6});
  EXPECT_NEAR(own.seconds, 1e-3 + send, kNegligible);
}

TEST(Recurrence, ACardServesItsRanksInTurn) {
  // As above with 4 slices a rank: the card alternates, so rank 0's last slice is the last but one of all.
  const Schedule pairs(testing::model_shape("pairs", Collective::all_gather, 4, 4), [](ProgramBuilder& builder) {
    const int rank = builder.rank();
    if (rank < 2) builder.add(testing::model_step(Verb::send, {}, kInput, {}, {rank + 2}, rank));
    if (rank >= 2) builder.add(testing::model_step(Verb::recv, {{rank - 2, 0}}, {}, kOutput, {}, rank - 2));
  });
  const double send = static_cast<double>(kSlotBytes) / 1e8;
  const Timing timing = time_schedule(pairs, 4 * kSlotBytes, 1, {2, 2, 1e-3, 1e8});
  EXPECT_NEAR(timing.rank_seconds[2], 1e-3 + 7 * send, kNegligible);
  EXPECT_NEAR(timing.rank_seconds[3], 1e-3 + 8 * send, kNegligible);
}

TEST(Recurrence, MulticastIsOneTransmissionAReaderElsewhere) {
  const Schedule star = broadcast_along({-1, 0, 0, 0, 0});
  const double send = kOneSlice / 1e6;
  const Timing apart = time_schedule(star, kOneSlice, 1, {5, 1, 1e-3, 1e6});
  EXPECT_EQ(apart.num_transmissions, 4);
  for (int reader = 1; reader < 5; ++reader) EXPECT_NEAR(apart.rank_seconds[reader], 1e-3 + reader * send, kNegligible);
  const Timing together = time_schedule(star, kOneSlice, 1, {2, 4, 1e-3, 1e6});  // only rank 4 lives elsewhere
  EXPECT_EQ(together.num_transmissions, 1);
  EXPECT_EQ(together.num_messages, 4);
  EXPECT_NEAR(together.seconds, 1e-3 + send, kNegligible);
}

TEST(Recurrence, TreeOfDepthTwoOverTwoHosts) {
  // 0 sends to 1 (host 0) and 2 (host 1); 2 sends to 3 (host 1); 1 sends to 4 and 5 (host 2): two more transmissions.
  const double alpha = 1e-3, send = kOneSlice / 1e6;
  const Timing timing = time_schedule(broadcast_along({-1, 0, 0, 2, 1, 1}), kOneSlice, 1, {3, 2, alpha, 1e6});
  EXPECT_NEAR(timing.rank_seconds[1], send, kNegligible);  // done when host 0's card takes its message, after rank 0's
  EXPECT_NEAR(timing.rank_seconds[2], alpha + send, kNegligible);
  EXPECT_NEAR(timing.rank_seconds[3], alpha + send, kNegligible);
  EXPECT_NEAR(timing.rank_seconds[4], alpha + 2 * send, kNegligible);
  EXPECT_NEAR(timing.rank_seconds[5], alpha + 3 * send, kNegligible);
}

TEST(Recurrence, TreeWinsSmallAndRingWinsLargeWithAHostARank) {
  // Small: about 2 log2 n alphas against 2 (n - 1). Large: an inner rank's card sends three times S, a ring's twice.
  const Cluster cluster{16, 1, 1e-3, 20e6};
  const auto seconds = [&](const char* name, size_t bytes) {
    return time_schedule(make_schedule(name, Collective::all_reduce, 16), bytes / 4, 4, cluster).seconds;
  };
  EXPECT_LT(seconds("tree", 4 << 10), seconds("ring", 4 << 10) / 2);
  EXPECT_LT(seconds("ring", 16 << 20), seconds("tree", 16 << 20));
}

TEST(Recurrence, AClusterIsHostsInBlocks) {
  const Schedule ring = ring_all_reduce(6);
  const double seconds = time_schedule(ring, 6000, 4, Cluster{3, 2, 1e-3, 1e6}).seconds;
  EXPECT_EQ(time_schedule(ring, 6000, 4, HostGroups::blocks(6, 2), {1e-3, 1e6}).seconds, seconds);
  // Where neighbours live apart every message crosses, two ranks share each card, and a step waits for both.
  EXPECT_GT(time_schedule(ring, 6000, 4, HostGroups({0, 1, 2, 0, 1, 2}), {1e-3, 1e6}).seconds, seconds);
}

TEST(Recurrence, SaysWhatIsWrongWithItsArguments) {
  const Schedule ring = ring_all_reduce(4);
  EXPECT_THROW(time_schedule(ring, 1, 4, HostGroups::blocks(5, 2), {0, 1e9}), UsageError);
  EXPECT_THROW(time_schedule(ring, 1, 4, {2, 1, 0, 1e9}), UsageError);  // two ranks of room
  EXPECT_THROW(time_schedule(ring, 1, 4, {0, 8, 0, 1e9}), UsageError);
  EXPECT_THROW(time_schedule(ring, 1, 4, {2, 2, -1, 1e9}), UsageError);
  EXPECT_THROW(time_schedule(ring, 1, 4, {2, 2, 0, 0}), UsageError);
  EXPECT_THROW(time_schedule(ring, 1, 0, {2, 2, 0, 1e9}), UsageError);
}

TEST(Recurrence, AScheduleThatHangsIsAnErrorThatNamesTheLane) {
  const Schedule hangs(testing::model_shape("hangs", Collective::broadcast, 2, 1), [](ProgramBuilder& builder) {
    if (builder.rank() == 0) builder.add(testing::model_step(Verb::copy, {}, kInput, kOutput, {}));
    if (builder.rank() == 1) builder.add(testing::model_step(Verb::recv, {{0, 0}}, {}, kOutput, {}));
  });
  try {
    time_schedule(hangs, 1, 4, {2, 1, 0, 1e9});
    FAIL() << "timed";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1, lane 0 waits forever"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ringtree
