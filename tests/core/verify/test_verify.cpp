// The verifier on schedules made by hand: it accepts the right ones and names every kind of fault in a wrong one.
// Mutants of the built-in algorithms are in test_mutants.cpp.
#include <gtest/gtest.h>

#include "core/verify/verify.h"
#include "tests/core/verify/schedules.h"

namespace ringtree {
namespace {

using testing::StepMaker;
using testing::Steps;
using testing::steps_of;

void expect_fault(const Steps& steps, const char* kind, const std::string& problem) {
  const Verdict verdict = verify(steps.schedule());
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.kind, kind);
  EXPECT_NE(verdict.problem.find(problem), std::string::npos) << verdict.problem;
  EXPECT_EQ(verdict.problem.find('\n'), std::string::npos);
}

TEST(Verify, AcceptsGoodSchedules) {
  for (int n = 2; n <= 9; ++n) {
    for (const Schedule& schedule :
         {testing::hand_ring(n), testing::hand_one_shot(n), testing::hand_chain_broadcast(n)}) {
      const Verdict verdict = verify(schedule);
      EXPECT_TRUE(verdict.ok) << verdict.problem;
      EXPECT_EQ(verdict.kind + verdict.problem, "");
    }
  }
  EXPECT_EQ(verify(testing::hand_scratch_swap()).problem, "");
  EXPECT_EQ(verify(testing::hand_chain_broadcast(1)).problem, "");
}

TEST(Verify, CountsStepsMessagesAndLinks) {
  const Verdict ring = verify(testing::hand_ring(4));
  EXPECT_EQ(ring.num_steps, 4 * 7);
  EXPECT_EQ(ring.num_messages, 4 * 6);
  EXPECT_EQ(ring.num_links, 4);
  const Verdict one_shot = verify(testing::hand_one_shot(5));
  EXPECT_EQ(one_shot.num_steps, 10);
  EXPECT_EQ(one_shot.num_messages, 20);
  EXPECT_EQ(one_shot.num_links, 20);
}

TEST(Verify, WorksBeyondSixtyFourRanks) { EXPECT_EQ(verify(testing::hand_one_shot(130)).problem, ""); }

TEST(Verify, RequireVerifiedThrowsTheProblem) {
  EXPECT_NO_THROW(require_verified(testing::hand_ring(3)));
  Steps steps = steps_of(testing::hand_ring(3));
  steps.by_rank[1].pop_back();
  try {
    require_verified(steps.schedule());
    FAIL() << "accepted";
  } catch (const VerificationError& error) {
    EXPECT_EQ(error.what(), verify(steps.schedule()).problem);
  }
}

TEST(Verify, LedgerNamesBothEndsWhenNumbersDiffer) {
  Steps steps = steps_of(testing::hand_ring(3));
  steps.by_rank[1].pop_back();  // the last recv of 5 steps
  expect_fault(steps, fault::kLedger,
               "hand_ring: rank 0 sends 4 times to rank 1 (tag 0): steps 0, 1, 2, 3, but rank 1 receives from it 3 "
               "times: steps 1, 2, 3");
  steps = steps_of(testing::hand_ring(3));
  for (Step& step : steps.by_rank[2])
    if (!step.send_to.empty()) step.send_tag = 9;
  expect_fault(steps, fault::kLedger, "rank 2 sends 0 times to rank 0 (tag 0), but rank 0 receives from it 4 times");
}

TEST(Verify, LedgerNamesBothStepsWhenChunksDiffer) {
  Steps steps = steps_of(testing::hand_ring(3));
  steps.by_rank[1][0].chunks.first = 2;
  expect_fault(steps, fault::kLedger,
               "rank 1, step 0 (send) sends chunk 2 to rank 2 (tag 0) as message 0, but rank 2, step 1 "
               "(recv_reduce_send) takes that message as chunk 1");
}

TEST(Verify, LedgerComparesChunksInOrder) {
  ScheduleShape shape = testing::shape_of_test("wide", Collective::broadcast, 2, 4);
  shape.widest = 4;
  const Step all = StepMaker(Verb::copy_send, {0, 4}).with(kInput).into(kOutput).to({1});
  Steps steps{shape, {{all}, {StepMaker(Verb::recv, {0, 4, 1}).from({{0, 0}}).into(kOutput)}}, {0, 0}};
  EXPECT_EQ(verify(steps.schedule()).problem, "");
  steps.by_rank[1][0].chunks = {0, 4, 5};  // 0, 5, 10, 15 mod 4: the same ids in the same order
  EXPECT_EQ(verify(steps.schedule()).problem, "");
  steps.by_rank[1][0].chunks = {0, 4, 3};  // 0, 3, 2, 1
  expect_fault(steps, fault::kLedger, "sends chunks 0, 1, 2, 3 to rank 1 (tag 0) as message 0");
}

TEST(Verify, DeadlockNamesTheCircle) {
  const ScheduleShape shape = testing::shape_of_test("both_wait", Collective::all_reduce, 2, 1);
  Steps steps{shape, {}, {0, 0}};
  for (int rank : {0, 1})
    steps.by_rank.push_back({StepMaker(Verb::recv_reduce_copy).from({{1 - rank, 0}}).with(kInput).into(kOutput),
                             StepMaker(Verb::send).with(kInput).to({1 - rank})});
  expect_fault(steps, fault::kDeadlock,
               "rank 0, step 0 (recv_reduce_copy) waits for a message from rank 1, step 1 (send) on link 1 -> 0, tag "
               "0, which waits for its lane to get past rank 1, step 0 (recv_reduce_copy)");
}

TEST(Verify, DeadlockFindsTooManyMessagesInFlight) {
  // Each sends three chunks before it receives any: fine with three slots, not with the two that every proof uses.
  for (int num_chunks : {2, 3}) {
    Steps steps{testing::shape_of_test("flood", Collective::all_reduce, 2, num_chunks), {}, {0, 0}};
    for (int rank : {0, 1}) {
      std::vector<Step>& own = steps.by_rank.emplace_back();
      for (int chunk = 0; chunk < num_chunks; ++chunk)
        own.push_back(StepMaker(Verb::send, {chunk, 1}).with(kInput).to({1 - rank}));
      for (int chunk = 0; chunk < num_chunks; ++chunk)
        own.push_back(
            StepMaker(Verb::recv_reduce_copy, {chunk, 1}).from({{1 - rank, 0}}).with(kInput, rank).into(kOutput));
    }
    if (num_chunks == 2) {
      EXPECT_EQ(verify(steps.schedule()).problem, "");
    } else {
      expect_fault(steps, fault::kDeadlock, "waits for a slot to be freed by");
    }
  }
}

TEST(Verify, MulticastSlotIsHeldByItsSlowestReader) {
  // Rank 0 multicasts three chunks. Rank 2 takes the first only after a word from rank 1, which follows rank 1's last.
  const ScheduleShape shape = testing::shape_of_test("slow_reader", Collective::broadcast, 3, 3);
  Steps steps{shape, std::vector<std::vector<Step>>(3), {0, 0, 1}};
  for (int chunk = 0; chunk < 3; ++chunk) {
    steps.by_rank[0].push_back(StepMaker(Verb::copy_send, {chunk, 1}).with(kInput).into(kOutput).to({1, 2}));
    steps.by_rank[1].push_back(StepMaker(Verb::recv, {chunk, 1}).from({{0, 0}}).into(kOutput));
  }
  steps.by_rank[1].push_back(StepMaker(Verb::send, {2, 1}).with(kOutput).to({2}));
  std::vector<Step>& slow = steps.by_rank[2];
  slow.push_back(StepMaker(Verb::recv, {2, 1}).from({{1, 0}}).into(scratch(0)));
  for (const Step& step : std::vector<Step>(steps.by_rank[1].begin(), steps.by_rank[1].begin() + 3))
    slow.push_back(step);
  expect_fault(steps, fault::kDeadlock, "on link 0 -> 2, tag 0");
  std::swap(slow[0], slow[1]);  // takes one message first: then all flow
  EXPECT_EQ(verify(steps.schedule()).problem, "");
}

TEST(Verify, UninitialisedScratchOutputAndResult) {
  Steps steps = steps_of(testing::hand_scratch_swap());
  std::swap(steps.by_rank[1][4], steps.by_rank[1][5]);  // reduce before the copy that fills dst
  expect_fault(steps, fault::kUninitialised, "rank 1, step 4 (reduce) reads output chunk 0");
  steps = steps_of(testing::hand_scratch_swap());
  steps.num_scratch[0] = 3;
  steps.by_rank[0][5].src = scratch(2);
  expect_fault(steps, fault::kUninitialised, "rank 0, step 5 (reduce) reads scratch slot 2");
  steps = steps_of(testing::hand_ring(2));
  steps.by_rank[1].back().dst = scratch(0);
  steps.num_scratch[1] = 1;
  expect_fault(steps, fault::kUninitialised, "rank 1's output chunk 1 (never written) holds nothing at the end");
}

TEST(Verify, WrongChunkInScratch) {
  Steps steps = steps_of(testing::hand_scratch_swap());
  steps.by_rank[0][5].src = scratch(1);
  expect_fault(steps, fault::kWrongChunk,
               "rank 0, step 5 (reduce) reads scratch slot 1 as chunk 0, but step 3 has put chunk 1 there");
}

TEST(Verify, DoubleContributionShowsAtTheFold) {
  Steps steps = steps_of(testing::hand_ring(4));
  steps.by_rank[2][4].verb = Verb::recv_reduce_copy_send;  // folds the finished sum once more
  steps.by_rank[2][4].src = kInput;
  expect_fault(steps, fault::kDoubleContribution,
               "rank 2, step 4 (recv_reduce_copy_send) counts the contribution of rank 2 to chunk 2 twice");
}

TEST(Verify, InPlaceIsCheckedToo) {
  // The result is put into output chunk 0 and then input chunk 0 is folded in again: only in place is that wrong.
  const ScheduleShape shape = testing::shape_of_test("overwrites", Collective::all_reduce, 2, 1);
  Steps steps{shape, {}, {0, 0}};
  for (int rank : {0, 1}) {
    const int peer = 1 - rank;
    steps.by_rank.push_back({StepMaker(Verb::send).with(kInput).to({peer}),
                             StepMaker(Verb::recv).from({{peer, 0}}).into(kOutput),
                             StepMaker(Verb::reduce).with(kInput, rank).into(kOutput)});
  }
  expect_fault(steps, fault::kDoubleContribution, "twice (in place)");
}

TEST(Verify, MissingContributionNamesWhoseAndWhere) {
  Steps steps = steps_of(testing::hand_ring(4));
  Step& relay = steps.by_rank[3][1];  // passes chunk 2 on without adding its own
  relay.verb = Verb::recv_send;
  relay.src = {};
  expect_fault(steps, fault::kMissingContribution, "lacks the contribution of rank 3");
}

TEST(Verify, DifferentExpressions) {
  Steps steps = steps_of(testing::hand_one_shot(3));
  steps.by_rank[2][1].src_at = 0;  // 2, 0, 1 instead of 0, 1, 2
  expect_fault(steps, fault::kDifferentExpressions,
               "rank 2's output chunk 0 (written by step 1) is folded in another order than rank 0's");
}

TEST(Verify, MalformedProgramsThrow) {
  Steps steps = steps_of(testing::hand_ring(3));
  steps.by_rank[0][0].send_to = {0};
  const Schedule lazy(steps.shape, [steps](ProgramBuilder& builder) {
    for (const Step& step : steps.by_rank[static_cast<size_t>(builder.rank())]) builder.add(step);
  });
  EXPECT_THROW(verify(lazy), ScheduleError);
}

}  // namespace
}  // namespace ringtree
