// The reference executor must find faults: each test breaks a good schedule in one way and expects the fault by name.
#include <gtest/gtest.h>

#include "core/algorithms/registry.h"
#include "tests/core/algorithms/reference_run.h"

namespace ringtree {
namespace {

/// The algorithm's steps for all ranks, for a test to break.
struct Broken {
  explicit Broken(const char* name, int num_ranks = 4, Collective collective = Collective::all_reduce)
      : schedule(make_schedule(name, collective, num_ranks)) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      const Program program = schedule.program(rank);
      steps.push_back(program.steps());
      num_scratch.push_back(program.num_scratch());
    }
  }
  std::string run(bool in_place = false) const {
    return reference::run(Schedule(schedule.shape(), steps, num_scratch), in_place, 7);
  }
  Schedule schedule;
  std::vector<std::vector<Step>> steps;
  std::vector<int> num_scratch;
};

TEST(ReferenceRun, accepts_what_is_right) { EXPECT_EQ(Broken("ring").run(), ""); }

TEST(ReferenceRun, finds_a_missing_contribution) {
  Broken naive("naive");
  Step& fold = naive.steps[0][0];  // rank 0 stores rank 1's vector and forgets its own
  fold.verb = Verb::recv;
  fold.src = {};
  EXPECT_NE(naive.run().find("is wrong"), std::string::npos);
}

TEST(ReferenceRun, finds_a_contribution_that_counts_twice) {
  Broken naive("naive");  // rank 0 adds its own vector again
  naive.steps[0].insert(naive.steps[0].begin() + 1, Step{Verb::reduce, 0, {0}, {}, kInput, 0, kOutput, {}, 0});
  EXPECT_NE(naive.run().find("is wrong"), std::string::npos);
}

TEST(ReferenceRun, finds_another_order_of_operands_on_one_rank) {
  Broken one_shot("one_shot");
  std::swap(one_shot.steps[2][1].recv[0], one_shot.steps[2][1].recv[1]);
  EXPECT_NE(one_shot.run().find("another expression"), std::string::npos);
}

TEST(ReferenceRun, finds_a_deadlock) {
  Broken naive("naive", 3);
  std::swap(naive.steps[1][0], naive.steps[1][1]);  // rank 1 waits for the sum before it gives its part
  EXPECT_NE(naive.run().find("stuck"), std::string::npos);
}

TEST(ReferenceRun, finds_that_two_slots_do_not_suffice) {
  ScheduleShape shape{"three_sends", Collective::broadcast, 2, 0, 3, 1, {}};
  const Step wait{Verb::recv, 0, {0}, {{1, 0}}, {}, 0, kOutput, {}, 0};
  auto send = [](int chunk) { return Step{Verb::send, 0, {chunk}, {}, kInput, 0, {}, {1}, 0}; };
  auto take = [](int chunk) { return Step{Verb::recv, 0, {chunk}, {{0, 0}}, {}, 0, kOutput, {}, 0}; };
  const Step copy1{Verb::copy, 0, {1}, {}, kInput, 0, kOutput, {}, 0},
      copy2{Verb::copy, 0, {2}, {}, kInput, 0, kOutput, {}, 0},
      copy0{Verb::copy, 0, {0}, {}, kInput, 0, kOutput, {}, 0};
  const std::vector<Step> root = {copy0, copy1, copy2, send(0), send(1), send(2)};
  EXPECT_EQ(reference::run(Schedule(shape, {root, {take(0), take(1), take(2)}}, {0, 0}), false, 7), "");
  // The peer takes nothing before all three have left: it needs a sign from rank 0 on another link.
  std::vector<Step> with_sign = root;
  with_sign.push_back(Step{Verb::send, 0, {0}, {}, kInput, 0, {}, {1}, 1});
  const Step sign{Verb::recv, 0, {0}, {{0, 1}}, {}, 0, kOutput, {}, 0};
  EXPECT_NE(
      reference::run(Schedule(shape, {with_sign, {sign, take(0), take(1), take(2)}}, {0, 0}), false, 7).find("stuck"),
      std::string::npos);
}

TEST(ReferenceRun, finds_a_message_that_nobody_takes) {
  Broken naive("naive", 3);
  naive.steps[2].pop_back();
  // With one message a pass the third pass finds the slots full: stuck or left over, both are right.
  EXPECT_NE(naive.run(), "");
}

TEST(ReferenceRun, finds_a_chunk_that_does_not_fit_the_message) {
  Broken ring("ring");
  ring.steps[1][1].chunks.first = 2;
  EXPECT_NE(ring.run().find("another chunk"), std::string::npos);
}

TEST(ReferenceRun, finds_that_the_output_is_read_before_it_is_written) {
  Broken naive("naive");
  naive.steps[0][0].src = kOutput;
  EXPECT_NE(naive.run(false).find("before it is written"), std::string::npos);
  EXPECT_EQ(naive.run(true), "") << "in place the output holds the input";
}

TEST(ReferenceRun, finds_what_is_wrong_in_place_only) {
  Broken naive("naive");
  naive.steps[0][0].verb = Verb::recv;  // rank 1's vector is stored first (over the input) and the own one added to it
  naive.steps[0][0].src = {};
  naive.steps[0].insert(naive.steps[0].begin() + 1, Step{Verb::reduce, 0, {0}, {}, kInput, 0, kOutput, {}, 0});
  EXPECT_EQ(naive.run(false), "");
  EXPECT_NE(naive.run(true).find("is wrong"), std::string::npos);
}

TEST(ReferenceRun, finds_an_output_that_nobody_writes) {
  Broken gather("ring", 3, Collective::all_gather);
  Step& own = gather.steps[1][0];
  own.verb = Verb::send;
  own.dst = {};
  EXPECT_NE(gather.run(false).find("is missing"), std::string::npos);
}

}  // namespace
}  // namespace ringtree
