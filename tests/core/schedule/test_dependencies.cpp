// The dependencies that derive_dependencies() finds between lanes, on sequences small enough to know the answer.
#include <gtest/gtest.h>

#include "core/schedule/program.h"

namespace ringtree {

/// For GoogleTest's messages, which look for it here.
void PrintTo(const Dependency& d, std::ostream* out) {
  *out << "{" << d.step << (d.by_slice ? ", by slice" : ", whole") << (d.previous_pass ? ", previous pass}" : "}");
}

namespace {

constexpr int kNumChunks = 4;
using Found = std::vector<std::vector<Dependency>>;

Step read(int lane, ChunkRange chunks, Place src) {
  Step step;
  step.lane = lane;
  step.verb = Verb::send;
  step.chunks = chunks;
  step.src = src;
  step.send_to = {1};
  return step;
}

Step write(int lane, ChunkRange chunks, Place dst) {
  Step step;
  step.lane = lane;
  step.verb = Verb::recv;
  step.chunks = chunks;
  step.recv = {{1, 0}};
  step.dst = dst;
  return step;
}

Step copy(int lane, ChunkRange chunks, Place src, Place dst) {
  Step step = write(lane, chunks, dst);
  step.verb = Verb::copy;
  step.recv = {};
  step.src = src;
  return step;
}

Found derive(const std::vector<Step>& steps, int num_lanes = 2) {
  return derive_dependencies(steps, kNumChunks, 4, num_lanes);
}

Dependency slice_by_slice(int step) { return {step, true, false}; }
Dependency whole(int step) { return {step, false, false}; }

TEST(Dependencies, none_within_a_lane) {
  EXPECT_EQ(derive({write(0, {0}, kOutput), read(0, {0}, kOutput)}, 1), (Found{{}, {}}));
  EXPECT_EQ(derive({write(1, {0}, kOutput), read(1, {0}, kOutput), read(0, {1}, kInput)}), (Found{{}, {}, {}}));
}

TEST(Dependencies, read_after_write) {
  EXPECT_EQ(derive({write(0, {2}, kOutput), read(1, {2}, kOutput)}), (Found{{}, {slice_by_slice(0)}}));
}

TEST(Dependencies, write_after_read_as_if_in_place) {
  EXPECT_EQ(derive({read(0, {2}, kInput), write(1, {2}, kOutput)}), (Found{{}, {slice_by_slice(0)}}));
}

TEST(Dependencies, write_after_write) {
  EXPECT_EQ(derive({write(0, {2}, kOutput), write(1, {2}, kOutput)}), (Found{{}, {slice_by_slice(0)}}));
}

TEST(Dependencies, none_between_readers_or_other_chunks) {
  EXPECT_EQ(derive({read(0, {2}, kInput), read(1, {2}, kInput)}), (Found{{}, {}}));
  EXPECT_EQ(derive({write(0, {2}, kOutput), read(1, {1}, kOutput)}), (Found{{}, {}}));
  EXPECT_EQ(derive({write(0, {0, 2, 2}, kOutput), read(1, {1, 2, 2}, kOutput)}), (Found{{}, {}})) << "interleaved";
}

TEST(Dependencies, wait_for_the_whole_step_if_slices_differ) {
  EXPECT_EQ(derive({write(0, {0, 2}, kOutput), read(1, {1, 2}, kOutput)}), (Found{{}, {whole(0)}}));
  EXPECT_EQ(derive({write(0, {0, 2}, kOutput), read(1, {1, 2, -1}, kOutput)}), (Found{{}, {whole(0)}}))
      << "other order";
  EXPECT_EQ(derive({write(0, {3, 2}, kOutput), read(1, {0}, kOutput)}), (Found{{}, {whole(0)}})) << "wraps around";
}

TEST(Dependencies, the_latest_step_of_a_lane_stands_for_the_others) {
  EXPECT_EQ(derive({write(0, {0}, kOutput), write(0, {1}, kOutput), read(1, {0, 2}, kOutput)}),
            (Found{{}, {}, {whole(1)}}));
  EXPECT_EQ(derive({write(0, {0}, kOutput), write(1, {1}, kOutput), read(2, {0, 2}, kOutput)}, 3),
            (Found{{}, {}, {whole(0), whole(1)}}));
}

TEST(Dependencies, a_write_waits_for_every_reader_since_the_last_write) {
  EXPECT_EQ(derive({read(0, {0}, kInput), read(1, {0}, kInput), write(2, {0}, kOutput), write(0, {0}, kOutput)}, 3),
            (Found{{}, {}, {slice_by_slice(0), slice_by_slice(1)}, {slice_by_slice(2)}}));
}

TEST(Dependencies, scratch_is_used_again_in_the_next_pass) {
  EXPECT_EQ(derive({write(0, {0}, scratch(1)), read(1, {0}, scratch(1))}),
            (Found{{{1, true, true}}, {slice_by_slice(0)}}));
}

// Two chunks of 3 and 5 elements, passes of 2 elements of each, slices of 2: in the first pass the second slice is the
// second chunk's; in the next one the first chunk has one element left, and the first slice reaches into the second.
TEST(Dependencies, slices_of_several_chunks_are_others_in_the_next_pass) {
  const ChunkRange both{0, 2, 1};
  EXPECT_EQ(derive({write(0, both, scratch(0)), read(1, both, scratch(0))}),
            (Found{{{1, false, true}}, {slice_by_slice(0)}}));
}

TEST(Dependencies, user_data_is_not) {
  EXPECT_EQ(derive({read(0, {0}, kInput), write(1, {0}, kOutput)})[0], (std::vector<Dependency>{}));
}

TEST(Dependencies, scratch_is_told_apart_by_slot_not_by_chunk) {
  EXPECT_EQ(derive({write(0, {0}, scratch(0)), read(1, {0}, scratch(1))}), (Found{{}, {}}));
  const Found found = derive({write(0, {0}, scratch(0)), read(1, {1}, scratch(0))});
  EXPECT_EQ(found[1], (std::vector<Dependency>{whole(0)})) << "another chunk has another size";
}

TEST(Dependencies, scratch_ranges_that_begin_elsewhere_have_other_slices) {
  EXPECT_EQ(derive({write(0, {0, 2}, scratch(0)), read(1, {0, 2}, scratch(1))})[1],
            (std::vector<Dependency>{whole(0)}));
}

TEST(Dependencies, a_step_of_this_pass_implies_the_pass_before) {
  const Found found = derive({write(0, {0}, scratch(0)),             //
                              copy(1, {0}, scratch(0), scratch(1)),  // waits for 0, hence for 2 one pass ago
                              read(0, {0}, scratch(1))});
  ASSERT_EQ(found[1].size(), 1u);
  EXPECT_EQ(found[1][0].step, 0);
  EXPECT_FALSE(found[1][0].previous_pass);
  ASSERT_EQ(found[0].size(), 1u) << "while 0 itself must wait for 1 one pass ago";
  EXPECT_EQ(found[0][0].step, 1);
  EXPECT_TRUE(found[0][0].previous_pass);
}

}  // namespace
}  // namespace ringtree
