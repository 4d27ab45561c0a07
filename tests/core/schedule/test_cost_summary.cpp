// measure() on schedules small enough to count by hand, and on some whose messages cannot all be delivered. The
// built-in algorithms' closed forms are held against it in tests/core/algorithms/test_costs.cpp.
#include <gtest/gtest.h>

#include "core/schedule/cost_summary.h"

namespace ringtree {
namespace {

Step send(int chunk, std::vector<int> to, Place src = kInput) {
  Step step;
  step.verb = Verb::send;
  step.chunks = {chunk};
  step.src = src;
  step.send_to = std::move(to);
  return step;
}

Step recv(int chunk, int from, int lane = 0) {
  Step step;
  step.verb = Verb::recv;
  step.lane = lane;
  step.chunks = {chunk};
  step.recv = {{from, 0}};
  step.dst = kOutput;
  return step;
}

Step in_lane(int lane, Step step) {
  step.lane = lane;
  return step;
}

CostSummary count(Collective collective, int num_chunks, std::vector<std::vector<Step>> steps) {
  const int n = static_cast<int>(steps.size());
  const std::vector<int> no_scratch(steps.size(), 0);
  return measure(Schedule({"test", collective, n, 0, num_chunks, 1, {}}, std::move(steps), no_scratch));
}

std::string fault(std::vector<std::vector<Step>> steps) {
  try {
    count(Collective::all_reduce, 2, std::move(steps));
  } catch (const ScheduleError& error) {
    return error.what();
  }
  return "";
}

TEST(Measure, an_idle_schedule_costs_nothing) {
  const CostSummary cost = count(Collective::all_reduce, 1, {{}, {}});
  EXPECT_EQ(cost.steps, 0);
  EXPECT_EQ(cost.hops, 0);
  EXPECT_EQ(cost.sent, 0);
  EXPECT_EQ(cost.written, 0);
  EXPECT_EQ(cost.read, 0);
  EXPECT_EQ(cost.total_written, 0);
  EXPECT_EQ(cost.total_read, 0);
}

TEST(Measure, counts_shares_of_the_whole_vector) {
  // Rank 0 sends 2 of 4 chunks and stores 1; rank 1 sends 1 and stores 2.
  const CostSummary cost = count(Collective::all_reduce, 4,
                                 {{send(0, {1}), send(1, {1}), recv(2, 1)}, {send(2, {0}), recv(0, 0), recv(1, 0)}});
  EXPECT_EQ(cost.steps, 3);
  EXPECT_EQ(cost.hops, 1);
  EXPECT_EQ(cost.sent, 0.5);
  EXPECT_EQ(cost.written, 0.75);
  EXPECT_EQ(cost.read, 0.75);
  EXPECT_EQ(cost.total_written, 1.5);
  EXPECT_EQ(cost.total_read, 1.5);
}

TEST(Measure, a_multicast_is_written_once_and_read_by_each) {
  const CostSummary cost = count(Collective::all_reduce, 1, {{send(0, {1, 2})}, {recv(0, 0)}, {recv(0, 0)}});
  EXPECT_EQ(cost.sent, 1);
  EXPECT_EQ(cost.written, 1);
  EXPECT_EQ(cost.total_written, 3);
  EXPECT_EQ(cost.read, 1);
  EXPECT_EQ(cost.total_read, 3);
  EXPECT_EQ(cost.total_in_slots, 3);
  EXPECT_EQ(cost.total_received, 2);
  EXPECT_EQ(cost.messages, 2);
  EXPECT_EQ(cost.links, 1);
  EXPECT_EQ(cost.hops, 1);
}

TEST(Measure, slots_of_two_that_send_to_each_other_alone_are_exchanged) {
  // Of 4 chunks: rank 0 sends one to 1 and one to 2, and 1 sends one back, by another tag. Only what 2 gets goes one
  // way, and a multicast does, whoever sends back.
  Step answer = send(2, {0});
  answer.send_tag = 1;
  Step answered = recv(2, 1);
  answered.recv[0].tag = 1;
  Step shown = send(3, {1, 2}), seen = recv(3, 0);
  shown.send_tag = seen.recv[0].tag = 2;
  const CostSummary cost =
      count(Collective::all_reduce, 4,
            {{send(0, {1}), send(1, {2}), shown, answered}, {recv(0, 0), answer, seen}, {recv(1, 0), seen}});
  EXPECT_EQ(cost.total_one_way, 0.5);
}

TEST(Measure, a_fold_reads_all_its_operands_and_writes_one_result) {
  Step fold = recv(0, 1);
  fold.verb = Verb::recv_reduce_copy;
  fold.recv.push_back({2, 0});
  auto cost_of = [&] { return count(Collective::all_reduce, 1, {{fold}, {send(0, {0})}, {send(0, {0})}}); };
  EXPECT_EQ(cost_of().read, 2);
  EXPECT_EQ(cost_of().written, 1);
  fold.src = kInput;
  EXPECT_EQ(cost_of().read, 3);
  EXPECT_EQ(cost_of().total_read, 5);
  EXPECT_EQ(cost_of().written, 1);
}

TEST(Measure, a_local_reduce_reads_its_destination_too) {
  Step copy, reduce;
  copy.verb = Verb::copy;
  reduce.verb = Verb::reduce;
  copy.src = reduce.src = kInput;
  copy.dst = reduce.dst = kOutput;
  EXPECT_EQ(count(Collective::all_reduce, 1, {{copy}}).read, 1);
  const CostSummary both = count(Collective::all_reduce, 1, {{copy, reduce}});
  EXPECT_EQ(both.read, 3);
  EXPECT_EQ(both.written, 2);
}

TEST(Measure, a_chain_of_messages_is_as_long_as_its_waits) {
  const std::vector<std::vector<Step>> chain = {
      {send(0, {1})}, {recv(0, 0), send(0, {2}, kOutput)}, {recv(0, 1), send(0, {0}, kOutput)}};
  std::vector<std::vector<Step>> closed = chain;
  closed[0].push_back(recv(0, 2));
  EXPECT_EQ(count(Collective::all_reduce, 1, closed).hops, 3);
}

TEST(Measure, lanes_that_share_nothing_do_not_wait_for_each_other) {
  // Rank 1 receives chunk 0 in lane 0 and sends chunk 1 (or 0) in lane 1.
  auto hops = [](int chunk) {
    return count(Collective::all_reduce, 2,
                 {{send(0, {1})},
                  {recv(0, 0), in_lane(1, send(chunk, {2}, chunk == 0 ? kOutput : kInput))},
                  {recv(chunk, 1)}})
        .hops;
  };
  EXPECT_EQ(hops(1), 1);
  EXPECT_EQ(hops(0), 2) << "a dependency makes it wait";
}

TEST(Measure, refuses_a_schedule_that_waits_for_ever) {
  EXPECT_NE(fault({{recv(0, 1), send(0, {1})}, {recv(0, 0), send(0, {0})}}).find("rank 0, step 0 waits forever"),
            std::string::npos);
  EXPECT_NE(fault({{send(0, {1})}, {recv(0, 0), recv(1, 0)}}).find("rank 1, step 1 waits forever"), std::string::npos);
}

TEST(Measure, refuses_a_schedule_with_messages_that_nobody_takes) {
  EXPECT_NE(fault({{send(0, {1}), send(1, {1})}, {recv(0, 0)}}).find("rank 1 never receives 1 of rank 0's messages"),
            std::string::npos);
}

}  // namespace
}  // namespace ringtree
