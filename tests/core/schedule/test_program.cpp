// Each rule that Program checks, by a step that breaks that rule alone; and that what keeps the rules is accepted.
// Dependencies between lanes are tested in test_dependencies.cpp.
#include <gtest/gtest.h>

#include "core/schedule/program.h"

namespace ringtree {
namespace {

// 4 ranks, 4 chunks, at most 2 a step; all_gather, so that rank 1 has chunk 1 in its input and all in its output.
const ScheduleShape kShape{"test", Collective::all_gather, 4, 0, 4, 2, {}};
constexpr int kRank = 1, kScratch = 3;

Step send(ChunkRange chunks = {1}, std::vector<int> to = {2}, Place src = kInput) {
  Step step;
  step.verb = Verb::send;
  step.chunks = chunks;
  step.src = src;
  step.send_to = std::move(to);
  return step;
}

Step recv(ChunkRange chunks = {0}, Place dst = kOutput, Endpoint from = {0, 0}) {
  Step step;
  step.verb = Verb::recv;
  step.chunks = chunks;
  step.recv = {from};
  step.dst = dst;
  return step;
}

Step fold(std::vector<Endpoint> from = {{0, 0}, {2, 0}}) {
  Step step;
  step.verb = Verb::recv_reduce_copy;
  step.chunks = {1};
  step.recv = std::move(from);
  step.src = kInput;
  step.dst = kOutput;
  return step;
}

Step copy(Place src, Place dst, ChunkRange chunks = {1}) {
  Step step;
  step.verb = Verb::copy;
  step.chunks = chunks;
  step.src = src;
  step.dst = dst;
  return step;
}

std::string fault_of(std::vector<Step> steps) {
  try {
    Program(kShape, kRank, kScratch, std::move(steps));
  } catch (const ScheduleError& error) {
    return error.what();
  }
  return "";
}

template <typename Change>
Step with(Step step, Change change) {
  change(step);
  return step;
}

#define EXPECT_FAULT(steps, fragment) EXPECT_PRED2(contains, fault_of steps, fragment)

bool contains(const std::string& text, const std::string& fragment) { return text.find(fragment) != std::string::npos; }

TEST(Program, accepts_what_keeps_the_rules) {
  EXPECT_EQ(fault_of({}), "");
  EXPECT_EQ(fault_of({send(), recv(), fold({{2, 1}}), copy(kInput, kOutput)}), "");
  EXPECT_EQ(fault_of({send({1}, {0, 2, 3})}), "") << "a multicast";
  EXPECT_EQ(fault_of({with(fold(), [](Step& s) { s.src = {}; })}), "") << "two peers need no source";
  EXPECT_EQ(fault_of({with(fold(), [](Step& s) { s.src_at = 2; })}), "");
  EXPECT_EQ(fault_of({recv({3, 2})}), "") << "wraps around the last chunk";
  EXPECT_EQ(fault_of({recv({0, 2, 2})}), "") << "stride";
  EXPECT_EQ(fault_of({recv({0, 2, -1})}), "") << "stride backwards";
  EXPECT_EQ(fault_of({recv({0, 2}, scratch(1))}), "");
  EXPECT_EQ(fault_of({copy(scratch(0), scratch(0), {0, 2})}), "") << "the same place";
}

TEST(Program, of_a_mix_keeps_its_shares_apart) {
  const ScheduleShape shape{"test", Collective::all_gather, 4, 0, 8, 2, {}, {}, 2};
  const auto fault = [&](std::vector<Step> steps) -> std::string {
    try {
      Program(shape, kRank, kScratch, std::move(steps));
    } catch (const ScheduleError& error) {
      return error.what();
    }
    return "";
  };
  const Step even = recv({4, 2, 2}, kOutput, {2, 0}), odd = recv({1}, kOutput, {0, 0});
  const auto in_lane_1 = [](Step& step) { step.lane = 1; };
  EXPECT_EQ(fault({even, with(odd, in_lane_1)}), "");
  EXPECT_PRED2(contains, fault({recv({4, 2, 1})}), "chunks 4 and 5 are of different shares");
  EXPECT_PRED2(contains, fault({even, odd}), "lane 0 is of share 0, its chunk 1 of share 1");
}

TEST(Program, remembers_what_it_was_made_of) {
  const Program program(kShape, kRank, kScratch, {send(), with(recv(), [](Step& s) { s.lane = 1; })});
  EXPECT_EQ(program.rank(), kRank);
  EXPECT_EQ(program.num_scratch(), kScratch);
  EXPECT_EQ(program.num_lanes(), 2);
  EXPECT_EQ(program.steps().size(), 2u);
  EXPECT_EQ(program.dependencies().size(), 2u);
}

TEST(Program, names_schedule_rank_step_and_verb) {
  EXPECT_FAULT(({send(), send({0})}), "test: rank 1, step 1 (send): ");
}

TEST(Program, checks_that_operands_fit_the_verb) {
  EXPECT_FAULT(({with(send(), [](Step& s) { s.recv = {{0, 0}}; })}), "takes nothing from peers");
  EXPECT_FAULT(({with(recv(), [](Step& s) { s.recv = {}; })}), "exactly one peer, not 0");
  EXPECT_FAULT(({with(recv(), [](Step& s) { s.recv.push_back({2, 0}); })}), "exactly one peer, not 2");
  EXPECT_FAULT(({fold({})}), "at least one peer");
  EXPECT_FAULT(({with(send(), [](Step& s) { s.src = {}; })}), "needs a source");
  EXPECT_FAULT(({with(fold({{0, 0}}), [](Step& s) { s.src = {}; })}), "needs a source");
  EXPECT_FAULT(({with(recv(), [](Step& s) { s.src = kOutput; })}), "has no source of its own");
  EXPECT_FAULT(({with(recv(), [](Step& s) { s.dst = {}; })}), "needs a destination");
  EXPECT_FAULT(({with(send(), [](Step& s) { s.dst = kOutput; })}), "has no destination");
  EXPECT_FAULT(({send({1}, {})}), "needs a peer to send to");
  EXPECT_FAULT(({with(recv(), [](Step& s) { s.send_to = {2}; })}), "sends nothing");
}

TEST(Program, checks_the_place_in_the_fold) {
  EXPECT_FAULT(({with(fold(), [](Step& s) { s.src_at = 3; })}), "src_at 3 is not within 0..2");
  EXPECT_FAULT(({with(fold(), [](Step& s) { s.src_at = -1; })}), "src_at -1");
  EXPECT_FAULT(({with(send(), [](Step& s) { s.src_at = 1; })}), "src_at 1 is not within 0..0");
}

TEST(Program, checks_chunks) {
  EXPECT_FAULT(({recv({0, 0})}), "handles 0 chunks");
  EXPECT_FAULT(({recv({0, 5})}), "handles 5 chunks of 4");
  EXPECT_FAULT(({recv({0, 3})}), "more than the declared widest 2");
  EXPECT_FAULT(({recv({4})}), "chunk 4 does not exist");
  EXPECT_FAULT(({recv({-1})}), "chunk -1 does not exist");
  EXPECT_FAULT(({recv({0, 2, 0})}), "names a chunk twice");
  EXPECT_FAULT(({recv({0, 2, 4})}), "names a chunk twice");
}

TEST(Program, checks_places) {
  EXPECT_FAULT(({recv({0}, scratch(3))}), "scratch slot 3 + 1 is beyond the 3 reserved");
  EXPECT_FAULT(({recv({0, 2}, scratch(2))}), "scratch slot 2 + 2");
  EXPECT_FAULT(({recv({0}, scratch(-1))}), "scratch slot -1");
  EXPECT_FAULT(({recv({1}, kInput)}), "writes the input");
  EXPECT_FAULT(({send({0})}), "chunk 0 is not in this rank's input");
  EXPECT_FAULT(({send({1, 2})}), "chunk 2 is not in this rank's input");
  EXPECT_FAULT(({copy(scratch(0), scratch(1), {0, 2})}), "overlap in part");
  EXPECT_FAULT(({copy(scratch(1), scratch(0), {0, 2})}), "overlap in part");
}

TEST(Program, knows_which_chunks_are_in_the_output) {
  const ScheduleShape shape{"test", Collective::reduce, 4, 0, 4, 2, {}};  // rank 1 is not the root: no output at all
  EXPECT_THROW(Program(shape, kRank, 0, {recv()}), ScheduleError);
  EXPECT_NO_THROW(Program(shape, 0, 0, {recv({0}, kOutput, {1, 0})}));
}

TEST(Program, checks_peers_and_tags) {
  EXPECT_FAULT(({send({1}, {4})}), "peer 4 does not exist");
  EXPECT_FAULT(({recv({0}, kOutput, {-1, 0})}), "peer -1 does not exist");
  EXPECT_FAULT(({send({1}, {kRank})}), "no link to itself");
  EXPECT_FAULT(({recv({0}, kOutput, {kRank, 0})}), "no link to itself");
  EXPECT_FAULT(({fold({{0, 0}, {0, 0}})}), "takes twice from rank 0, tag 0");
  EXPECT_FAULT(({send({1}, {2, 2})}), "sends twice to one peer");
  EXPECT_FAULT(({with(send(), [](Step& s) { s.send_tag = -1; })}), "tag -1 is negative");
  EXPECT_FAULT(({recv({0}, kOutput, {0, -2})}), "tag -2 is negative");
}

TEST(Program, gives_each_end_of_a_link_to_one_lane) {
  auto in_lane_1 = [](Step& s) { s.lane = 1; };
  EXPECT_FAULT(({send(), with(send(), in_lane_1)}), "sending end of the link with rank 2, tag 0 belongs to lane 0");
  EXPECT_FAULT(({recv(), with(recv({2}), in_lane_1)}), "receiving end of the link with rank 0, tag 0");
  EXPECT_EQ(fault_of({send(), with(recv({2}, kOutput, {2, 0}), in_lane_1)}), "")
      << "the other direction is another link";
  EXPECT_EQ(fault_of({recv(), with(recv({2}, kOutput, {0, 1}), in_lane_1)}), "") << "another tag is another link";
}

TEST(Program, keeps_the_readers_of_a_link) {
  EXPECT_FAULT(({send({1}, {2, 3}), send({1}, {2})}), "has changing readers");
  EXPECT_EQ(fault_of({send({1}, {2, 3}), send({1}, {3, 2})}), "") << "the order of readers does not matter";
  EXPECT_EQ(fault_of({send({1}, {2, 3}), with(send({1}, {2}), [](Step& s) { s.send_tag = 1; })}), "");
}

TEST(Program, checks_lanes) {
  EXPECT_FAULT(({with(send(), [](Step& s) { s.lane = -1; })}), "lane -1 is negative");
  EXPECT_FAULT(({with(send(), [](Step& s) { s.lane = 1; })}), "no step on lane 0; number lanes from 0 without gaps");
}

}  // namespace
}  // namespace ringtree
