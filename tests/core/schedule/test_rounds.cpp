// Rounds of small schedules made by hand, each for one rule. That both ends agree on every message of every built-in
// schedule is tested from Python (test_backends_rounds.py).
#include <gtest/gtest.h>

#include "core/schedule/rounds.h"

namespace ringtree {
namespace {

Step send_step(int chunk, int to, int tag = 0, int lane = 0) {
  Step step;
  step.verb = Verb::send;
  step.lane = lane;
  step.chunks = {chunk, 1, 1};
  step.src = kInput;
  step.send_to = {to};
  step.send_tag = tag;
  return step;
}

Step recv_step(int chunk, int from, int tag = 0, int lane = 0) {
  Step step;
  step.verb = Verb::recv;
  step.lane = lane;
  step.chunks = {chunk, 1, 1};
  step.recv = {{from, tag}};
  step.dst = kOutput;
  return step;
}

Schedule of(std::vector<std::vector<Step>> steps, int num_chunks = 2) {
  ScheduleShape shape;
  shape.name = "hand-made";
  shape.num_ranks = static_cast<int>(steps.size());
  shape.num_chunks = num_chunks;
  std::vector<int> num_scratch(steps.size(), 0);
  return Schedule(shape, std::move(steps), num_scratch);
}

std::vector<int> steps_of(const std::vector<RoundMessage>& transfers) {
  std::vector<int> steps;
  for (const RoundMessage& transfer : transfers) steps.push_back(transfer.step);
  return steps;
}

TEST(Rounds, a_step_runs_when_its_messages_are_there) {
  const Schedule schedule = of({{send_step(0, 1), recv_step(1, 1)}, {recv_step(0, 0), send_step(1, 0)}});
  const std::vector<Round> first = rank_rounds(schedule, 0), second = rank_rounds(schedule, 1);
  // Rank 0 sends in round 1; rank 1's send stands behind its receive, so it travels in round 2.
  ASSERT_EQ(first.size(), 3u);
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(first[0].steps, std::vector{0});
  EXPECT_EQ(first[1].sends, (std::vector<RoundMessage>{{1, 0, 0, false}}));
  EXPECT_EQ(first[2].recvs, (std::vector<RoundMessage>{{1, 1, 0, true}}));
  EXPECT_EQ(first[2].steps, std::vector{1});
  EXPECT_EQ(second[1].recvs, (std::vector<RoundMessage>{{0, 0, 0, true}}));
  EXPECT_EQ(second[1].steps, (std::vector{0, 1}));
  EXPECT_TRUE(second[0].steps.empty());
}

TEST(Rounds, post_messages_of_a_pair_in_one_order_at_both_ends) {
  const Schedule schedule =
      of({{send_step(0, 1, 1, 0), send_step(1, 1, 0, 1)}, {recv_step(0, 0, 1, 1), recv_step(1, 0, 0, 0)}});
  EXPECT_EQ(steps_of(rank_rounds(schedule, 0)[1].sends), (std::vector{1, 0}));
  EXPECT_EQ(steps_of(rank_rounds(schedule, 1)[1].recvs), (std::vector{1, 0}));
}

TEST(Rounds, a_message_comes_in_its_round_even_if_its_step_must_wait) {
  // Rank 1 sends at once what rank 0 takes only after it has heard from rank 2, which waits for rank 1.
  const Schedule schedule =
      of({{recv_step(0, 2), recv_step(1, 1)}, {send_step(1, 0), send_step(1, 2)}, {recv_step(1, 1), send_step(0, 0)}});
  const std::vector<Round> rounds = rank_rounds(schedule, 0);
  EXPECT_EQ(steps_of(rounds[1].recvs), std::vector{1});
  EXPECT_TRUE(rounds[1].steps.empty());
  EXPECT_TRUE(
      rounds[2].steps.empty());  // rank 1 makes its sends one after the other, and rank 2 sends after the second
  EXPECT_EQ(rounds[3].steps, (std::vector{0, 1}));
}

TEST(Rounds, receive_into_a_place_that_nobody_uses_any_more) {
  // Chunk 0 is sent in round 1, in which another chunk 0 comes: not into its place. Chunk 1 may, though the same lane
  // is still sending something else.
  const auto direct = [](int chunk) {
    const Schedule schedule = of({{send_step(0, 1), recv_step(chunk, 1)}, {send_step(0, 0), recv_step(chunk, 0)}});
    return rank_rounds(schedule, 0)[1].recvs.at(0).lands;
  };
  EXPECT_FALSE(direct(0));
  EXPECT_TRUE(direct(1));
}

TEST(Rounds, refuse_what_waits_for_ever_and_who_does_not_exist) {
  const Schedule waiting = of({{recv_step(0, 1), send_step(0, 1)}, {recv_step(0, 0), send_step(0, 0)}});
  try {
    rank_rounds(waiting, 0);
    FAIL() << "a cycle was not noticed";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "schedule 'hand-made' can't finish: 4 steps wait forever; run ringtree verify");
  }
  EXPECT_THROW(rank_rounds(of({{}, {}}), 2), UsageError);
}

TEST(Rounds, of_nothing_are_one_empty_round) {
  const std::vector<Round> rounds = rank_rounds(of({{}, {}}), 1);
  ASSERT_EQ(rounds.size(), 1u);
  EXPECT_TRUE(rounds[0].steps.empty() && rounds[0].sends.empty() && rounds[0].recvs.empty());
}

}  // namespace
}  // namespace ringtree
