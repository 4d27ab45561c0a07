// A Schedule's checks of its shape, lazy and stored programs, and the structural hash.
#include <gtest/gtest.h>

#include <set>

#include "core/schedule/schedule.h"

namespace ringtree {
namespace {

// Rank 0 of a hand-made schedule: enough kinds of steps that every field of Step is in use. Only rank 0 does anything.
std::vector<Step> sample_steps() {
  Step first;
  first.verb = Verb::recv_reduce_copy_send;
  first.chunks = {0, 2, 1};
  first.recv = {{1, 0}, {2, 0}};
  first.src = kInput;
  first.src_at = 1;
  first.dst = scratch(0);
  first.send_to = {1, 2};
  Step second;
  second.verb = Verb::recv;
  second.lane = 1;
  second.chunks = {3};
  second.recv = {{1, 1}};
  second.dst = kOutput;
  return {first, second};
}

const ScheduleShape kPlainShape{"sample", Collective::all_reduce, 3, 0, 4, 2, {}};

uint64_t hash_of(const ScheduleShape& shape, std::vector<Step> steps, int num_scratch = 3) {
  std::vector<std::vector<Step>> by_rank(static_cast<size_t>(shape.num_ranks));
  std::vector<int> scratch_by_rank(by_rank.size(), 0);
  by_rank[0] = std::move(steps);
  scratch_by_rank[0] = num_scratch;
  return Schedule(shape, std::move(by_rank), std::move(scratch_by_rank)).structural_hash();
}

template <typename Change>
uint64_t hash_with_shape(Change change) {
  ScheduleShape shape = kPlainShape;
  change(shape);
  return hash_of(shape, sample_steps());
}

template <typename Change>
uint64_t hash_with_step(Change change) {
  std::vector<Step> steps = sample_steps();
  change(steps[0], steps[1]);
  return hash_of(kPlainShape, steps);
}

TEST(StructuralHash, is_a_function_of_the_content) {
  EXPECT_EQ(hash_of(kPlainShape, sample_steps()), hash_of(kPlainShape, sample_steps()));
}

TEST(StructuralHash, changes_with_every_field) {
  std::vector<Step> receives = {sample_steps()[1]};  // possible in every collective
  receives[0].lane = 0;
  const std::vector<uint64_t> hashes = {
      hash_of(kPlainShape, sample_steps()),
      hash_with_shape([](ScheduleShape& s) { s.name = "samplf"; }),
      hash_with_shape([](ScheduleShape& s) { s.num_ranks = 4; }),
      hash_with_shape([](ScheduleShape& s) { s.num_chunks = 5; }),
      hash_with_shape([](ScheduleShape& s) { s.widest = 3; }),
      hash_of(kPlainShape, sample_steps(), 4),
      hash_of(kPlainShape, {sample_steps()[0]}),
      hash_of(kPlainShape, {sample_steps()[1], sample_steps()[0]}),
      hash_of(kPlainShape, receives, 3),
      hash_of({"sample", Collective::broadcast, 3, 0, 4, 2, {}}, receives),
      hash_of({"sample", Collective::broadcast, 3, 1, 4, 2, {}}, receives),
      hash_of({"sample", Collective::all_reduce, 3, 0, 4, 2, {}, {}, 2}, receives),
      hash_of({"sample", Collective::all_reduce, 3, 0, 4, 2, {}, {}, 4}, receives),
      hash_with_step([](Step& a, Step&) {
        a.verb = Verb::recv_reduce_send;
        a.dst = {};
      }),
      hash_with_step([](Step&, Step& b) { b.lane = 0; }),
      hash_with_step([](Step& a, Step&) { a.chunks.first = 1; }),
      hash_with_step([](Step& a, Step&) { a.chunks.count = 1; }),
      hash_with_step([](Step& a, Step&) { a.chunks.stride = 2; }),
      hash_with_step([](Step& a, Step&) { a.recv[0].tag = 5; }),
      hash_with_step([](Step& a, Step&) { std::swap(a.recv[0], a.recv[1]); }),
      hash_with_step([](Step& a, Step&) { a.recv.pop_back(); }),
      hash_with_step([](Step&, Step& b) { b.recv[0].peer = 2; }),
      hash_with_step([](Step& a, Step&) { a.src = kOutput; }),
      hash_with_step([](Step& a, Step&) { a.src = scratch(0); }),
      hash_with_step([](Step& a, Step&) { a.src_at = 2; }),
      hash_with_step([](Step& a, Step&) { a.dst = kOutput; }),
      hash_with_step([](Step& a, Step&) { a.dst = scratch(1); }),
      hash_with_step([](Step& a, Step&) { a.send_to = {1}; }),
      hash_with_step([](Step& a, Step&) { a.send_to = {2}; }),
      hash_with_step([](Step& a, Step&) { a.send_to = {2, 1}; }),
      hash_with_step([](Step& a, Step&) { a.send_tag = 1; }),
  };
  EXPECT_EQ(std::set<uint64_t>(hashes.begin(), hashes.end()).size(), hashes.size());
}

TEST(StructuralHash, is_the_same_for_lazy_and_stored_programs) {
  const Schedule lazy(kPlainShape, [](ProgramBuilder& b) {
    b.reserve_scratch(b.rank() == 0 ? 3 : 0);
    if (b.rank() == 0)
      for (Step& step : sample_steps()) b.add(std::move(step));
  });
  EXPECT_EQ(lazy.structural_hash(), hash_of(kPlainShape, sample_steps()));
}

TEST(Schedule, makes_a_rank_s_program_when_it_is_asked_for) {
  int calls = 0;
  const Schedule schedule(kPlainShape, [&calls](ProgramBuilder& b) {
    ++calls;
    EXPECT_EQ(b.num_ranks(), 3);
    EXPECT_EQ(b.num_chunks(), 4);
    EXPECT_EQ(b.reserve_scratch(2), 0);
    EXPECT_EQ(b.reserve_scratch(1), 2);
    if (b.rank() == 0) b.add(sample_steps()[0]);
  });
  EXPECT_EQ(calls, 0);
  const Program program = schedule.program(0);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(program.rank(), 0);
  EXPECT_EQ(program.num_scratch(), 3);
  EXPECT_EQ(program.steps(), (std::vector<Step>{sample_steps()[0]}));
}

TEST(Schedule, has_no_program_for_ranks_that_do_not_exist) {
  const Schedule schedule(kPlainShape, [](ProgramBuilder&) {});
  EXPECT_THROW(schedule.program(-1), UsageError);
  EXPECT_THROW(schedule.program(3), UsageError);
  EXPECT_NO_THROW(schedule.program(2));
}

TEST(Schedule, checks_stored_programs_at_once_and_lazy_ones_when_made) {
  Step wrong = sample_steps()[0];
  wrong.send_to = {0};
  EXPECT_THROW(hash_of(kPlainShape, {wrong}), ScheduleError);
  const Schedule lazy(kPlainShape, [wrong](ProgramBuilder& b) { b.add(wrong); });
  EXPECT_THROW(lazy.program(0), ScheduleError);
  EXPECT_THROW(Schedule(kPlainShape, std::vector<std::vector<Step>>(2), {0, 0}), ScheduleError) << "a rank is missing";
  EXPECT_THROW(Schedule(kPlainShape, std::vector<std::vector<Step>>(3), {0, 0}), ScheduleError)
      << "its scratch is missing";
}

void expect_bad_shape(const ScheduleShape& shape, const std::string& fragment) {
  try {
    Schedule(shape, [](ProgramBuilder&) {});
    ADD_FAILURE() << "accepted, expected: " << fragment;
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos) << error.what();
  }
}

TEST(Schedule, checks_its_shape) {
  using enum Collective;
  expect_bad_shape({"s", all_reduce, 0, 0, 1, 1, {}}, "at least one rank");
  expect_bad_shape({"s", broadcast, 3, 3, 1, 1, {}}, "root 3 is not a rank");
  expect_bad_shape({"s", broadcast, 3, -1, 1, 1, {}}, "root -1 is not a rank");
  expect_bad_shape({"s", all_reduce, 3, 1, 1, 1, {}}, "all_reduce has no root");
  expect_bad_shape({"s", all_reduce, 3, 0, 0, 1, {}}, "at least one chunk");
  expect_bad_shape({"s", all_reduce, 3, 0, 4, 5, {}}, "widest 5 is not within 1..4");
  expect_bad_shape({"s", all_reduce, 3, 0, 4, 0, {}}, "widest 0");
  expect_bad_shape({"s", all_gather, 3, 0, 4, 1, {}}, "4 chunks are not a multiple of 3 blocks");
  expect_bad_shape({"s", all_reduce, 3, 0, 4, 1, {}, {}, 0}, "0 shares are not within 1..16");
  expect_bad_shape({"s", all_reduce, 3, 0, 34, 1, {}, {}, 17}, "17 shares are not within 1..16");
  expect_bad_shape({"s", all_reduce, 3, 0, 4, 1, {}, {}, 3}, "4 chunks are not a multiple of 3 shares");
}

}  // namespace
}  // namespace ringtree
