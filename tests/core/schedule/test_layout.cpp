// Where chunks lie and how they are cut: parts cover everything once, and no step has more than slots/2 slices.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/schedule/layout.h"

namespace ringtree {
namespace {

constexpr size_t kHuge = (size_t{1} << 31) + 5;

TEST(EvenPart, covers_everything_once_and_evenly) {
  for (size_t total : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{64}, size_t{1000}, kHuge})
    for (int parts : {1, 2, 3, 7, 64, 512}) {
      size_t next = 0, longest = 0, shortest = total;
      for (int i = 0; i < parts; ++i) {
        const Extent part = even_part(total, parts, i);
        ASSERT_EQ(part.offset, next);
        next += part.length;
        longest = std::max(longest, part.length);
        shortest = std::min(shortest, part.length);
      }
      EXPECT_EQ(next, total);
      EXPECT_LE(longest - shortest, 1u) << total << " in " << parts;
    }
}

TEST(EvenPart, puts_longer_parts_first) {
  EXPECT_EQ(even_part(7, 3, 0).length, 3u);
  EXPECT_EQ(even_part(7, 3, 1).length, 2u);
  EXPECT_EQ(even_part(7, 3, 2).offset, 5u);
}

// Marks each element that some chunk's part for some channel holds: every one exactly once.
void expect_partition(const ScheduleShape& shape, size_t count, int num_channels) {
  const Layout layout(shape, count);
  std::vector<int> marks(layout.total(), 0);
  for (int chunk = 0; chunk < shape.num_chunks; ++chunk) {
    EXPECT_LE(layout.chunk(chunk).length, layout.longest_chunk());
    for (int channel = 0; channel < num_channels; ++channel) {
      const Extent part = layout.part(chunk, channel, num_channels);
      ASSERT_LE(part.offset + part.length, marks.size());
      ASSERT_GE(part.offset, layout.chunk(chunk).offset);
      ASSERT_LE(part.offset + part.length, layout.chunk(chunk).offset + layout.chunk(chunk).length);
      for (size_t i = 0; i < part.length; ++i) ++marks[part.offset + i];
    }
  }
  EXPECT_EQ(std::count(marks.begin(), marks.end(), 1), static_cast<std::ptrdiff_t>(marks.size()))
      << collective_name(shape.collective) << " of " << count << " in " << shape.num_chunks << " chunks, "
      << num_channels << " channels";
}

TEST(Layout, parts_of_all_channels_hold_every_element_once) {
  for (Collective collective : kCollectives)
    for (int num_chunks : {16, 32, 48})  // of 4 ranks: multiples of all numbers of blocks
      for (size_t count : {0, 1, 3, 4, 5, 17, 1000})
        for (int num_channels : {1, 2, 3, 8})
          expect_partition({"test", collective, 4, 0, num_chunks, 1, {}}, count, num_channels);
}

TEST(Layout, blocks_begin_where_the_rank_order_says) {
  const Layout layout({"test", Collective::all_gather, 3, 0, 6, 1, {}}, 5);  // 5 elements a rank in 2 chunks
  EXPECT_EQ(layout.total(), 15u);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(layout.chunk(2 * rank).offset, 5u * rank);
    EXPECT_EQ(layout.chunk(2 * rank).length, 3u);
    EXPECT_EQ(layout.chunk(2 * rank + 1).offset, 5u * rank + 3);
    EXPECT_EQ(layout.chunk(2 * rank + 1).length, 2u);
  }
}

// All parts of a rank's own chunks, marked in buffers of its input and output: every element exactly once.
void expect_rank_partition(const ScheduleShape& shape, int rank, const RankLayout& layout, size_t input, size_t output,
                           int num_channels) {
  std::vector<int> in(input, 0), out(output, 0);
  for (int chunk = 0; chunk < shape.num_chunks; ++chunk)
    for (int channel = 0; channel < num_channels; ++channel) {
      const RankLayout::Part part = layout.part(chunk, channel, num_channels);
      for (size_t i = 0; i < part.length; ++i) {
        if (shape.input(rank).contains(chunk)) ++in.at(part.input + i);
        if (shape.output(rank).contains(chunk)) ++out.at(part.output + i);
      }
    }
  EXPECT_EQ(layout.input().length, input);
  EXPECT_EQ(layout.output().length, output);
  EXPECT_EQ(std::count(in.begin(), in.end(), 1), static_cast<std::ptrdiff_t>(input))
      << collective_name(shape.collective);
  EXPECT_EQ(std::count(out.begin(), out.end(), 1), static_cast<std::ptrdiff_t>(output))
      << collective_name(shape.collective);
}

TEST(RankLayout, parts_hold_every_element_of_input_and_output_once) {
  using enum Collective;
  constexpr int kRanks = 4, kRoot = 2;
  constexpr size_t kCount = 17;
  for (Collective collective : kCollectives)
    for (int rank = 0; rank < kRanks; ++rank) {
      const ScheduleShape shape{"test", collective, kRanks, has_root(collective) ? kRoot : 0, 32, 1, {}};
      const bool at_root = rank == kRoot;
      const size_t all = 4 * kCount;
      const std::map<Collective, std::pair<size_t, size_t>> elements = {{all_reduce, {kCount, kCount}},
                                                                        {reduce_scatter, {all, kCount}},
                                                                        {all_gather, {kCount, all}},
                                                                        {broadcast, {at_root ? kCount : 0, kCount}},
                                                                        {reduce, {kCount, at_root ? kCount : 0}},
                                                                        {gather, {kCount, at_root ? all : 0}},
                                                                        {scatter, {at_root ? all : 0, kCount}},
                                                                        {all_to_all, {all, all}}};
      for (int num_channels : {1, 3})
        expect_rank_partition(shape, rank, RankLayout(shape, rank, kCount), elements.at(collective).first,
                              elements.at(collective).second, num_channels);
    }
}

TEST(RankLayout, uneven_blocks_lie_side_by_side) {
  const ScheduleShape gathers{"test", Collective::all_gather, 3, 0, 6, 1, {}};
  const std::vector<uint64_t> counts{5, 0, 2};
  const RankLayout gathered(gathers, 2, counts);
  expect_rank_partition(gathers, 2, gathered, 2, 7, 2);
  EXPECT_EQ(gathered.input().offset, 5u);
  EXPECT_EQ(gathered.part(4, 0, 1).output, 5u);  // first chunk of rank 2's block
  EXPECT_EQ(gathered.part(4, 0, 1).input, 0u);
  EXPECT_EQ(gathered.longest_chunk(), 3u);
  // Rank 1 of 3 sends 1, 4, 0 elements and gets 2, 4, 3.
  const ScheduleShape turns{"test", Collective::all_to_all, 3, 0, 9, 1, {}};
  const std::vector<uint64_t> pairs{1, 4, 0, 2, 4, 3};
  const RankLayout turned(turns, 1, pairs);
  expect_rank_partition(turns, 1, turned, 5, 9, 1);
  EXPECT_EQ(turned.part(3 * 1 + 1, 0, 1).input, 1u);  // 1 -> 1
  EXPECT_EQ(turned.part(3 * 1 + 1, 0, 1).output, 2u);
  EXPECT_EQ(turned.part(3 * 2 + 1, 0, 1).output, 6u);  // 2 -> 1
  EXPECT_EQ(turned.part(3 * 2 + 1, 0, 1).length, 3u);
}

TEST(Layout, counts_beyond_two_to_the_31) {
  const Layout layout({"test", Collective::reduce_scatter, 4, 0, 4, 1, {}}, kHuge);
  EXPECT_EQ(layout.total(), 4 * kHuge);
  EXPECT_EQ(layout.chunk(3).offset, 3 * kHuge);
  EXPECT_EQ(layout.part(3, 1, 2).offset + layout.part(3, 1, 2).length, 4 * kHuge);
}

TEST(Cut, no_step_has_more_than_half_of_the_slots_in_slices) {
  for (int slots : {2, 4, 8, 16})
    for (size_t slot_bytes : {kSlotBytes, size_t{1} << 17})
      for (int widest = 1; widest <= 512; ++widest)
        for (size_t longest : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{4096}, size_t{100'000},
                               size_t{1} << 20, kHuge}) {
          const Cut cut = cut_parts(longest, widest, slots, slot_bytes);
          ASSERT_GT(cut.pass_bytes, 0u);
          ASSERT_LE(cut.slice_bytes, slot_bytes);
          ASSERT_EQ(cut.slice_bytes % 16, 0u) << "no item, at most 16 bytes, is cut in two";
          ASSERT_EQ(cut.pass_bytes % 64, 0u) << "no cache line is in two passes";
          const size_t widest_step = static_cast<size_t>(widest) * std::min(longest, cut.pass_bytes);
          ASSERT_LE(num_slices(widest_step, cut.slice_bytes), static_cast<size_t>(slots / 2))
              << longest << " bytes, widest " << widest << ", " << slots << " slots of " << slot_bytes;
          ASSERT_GE(cut.num_passes * cut.pass_bytes, longest) << "passes leave nothing out";
          ASSERT_TRUE(cut.num_passes == 1 || (cut.num_passes - 1) * cut.pass_bytes < longest) << "no pass is empty";
        }
}

TEST(Cut, uses_the_slots_that_it_may_use) {
  const Cut cut = cut_parts(size_t{1} << 24, 1);
  EXPECT_EQ(cut.slice_bytes, kSlotBytes);
  EXPECT_EQ(cut.pass_bytes, kSlots / 2 * kSlotBytes);
  EXPECT_EQ(cut.num_passes, 64u);
}

TEST(Cut, small_operands_stream_too) {
  const Cut cut = cut_parts(size_t{1} << 16, 1);
  EXPECT_EQ(num_slices(size_t{1} << 16, cut.slice_bytes), static_cast<size_t>(kSlots / 2));
  EXPECT_EQ(cut.num_passes, 1u);
  EXPECT_EQ(cut_parts(1, 1).slice_bytes, kLeastSliceBytes) << "but slices are not cut ever smaller";
  const size_t longer = kLeastSliceBytes + 1024;
  EXPECT_EQ(num_slices(longer, cut_parts(longer, 1).slice_bytes), 1u) << "nor into two that are shorter";
}

// Lengths of a step's slices in each pass, as run.h cuts them.
std::vector<std::vector<size_t>> slices_of(size_t longest, size_t width, const Cut& cut) {
  std::vector<std::vector<size_t>> passes(cut.num_passes);
  for (size_t pass = 0; pass < cut.num_passes; ++pass) {
    size_t left = width * std::min(cut.pass_bytes, longest - pass * cut.pass_bytes);
    for (; left > cut.slice_bytes; left -= cut.slice_bytes) passes[pass].push_back(cut.slice_bytes);
    passes[pass].push_back(left);
  }
  return passes;
}

TEST(Cut, no_slice_is_much_shorter_than_another) {
  constexpr size_t kGrain = 1024;  // to which slices and passes are rounded up
  for (size_t width : {1, 2, 3, 8})
    for (size_t wanted : {size_t{0}, size_t{1} << 14, kSlotBytes})
      for (size_t longest = kSlotBytes / 8; longest < 16 * kSlotBytes; longest += 4 * kSlotBytes / 33) {
        const Cut cut = cut_parts(longest, static_cast<int>(width), kSlots, kSlotBytes, wanted);
        const auto passes = slices_of(longest, width, cut);
        size_t most = 0, least = kSlotBytes;
        for (const auto& slices : passes)
          for (const size_t slice : slices) {
            most = std::max(most, slice);
            least = std::min(least, slice);
          }
        // Rounding a slice up leaves less for the last one of four, rounding a pass up for the last pass.
        const size_t rounding = kSlots / 2 * kGrain + passes.size() * kGrain * width;
        ASSERT_LE(most, least + rounding) << longest << " bytes, width " << width << ", wanted " << wanted;
      }
}

TEST(Cut, leaves_the_last_slice_short_where_ranks_may_not_know_the_length) {
  const Cut cut = cut_parts(80 << 10, 1, kSlots, kSlotBytes, kSlotBytes, false);
  EXPECT_EQ(slices_of(80 << 10, 1, cut), (std::vector<std::vector<size_t>>{{64 << 10, 16 << 10}}));
  EXPECT_EQ(slices_of(80 << 10, 1, cut_parts(80 << 10, 1, kSlots, kSlotBytes, kSlotBytes)),
            (std::vector<std::vector<size_t>>{{40 << 10, 40 << 10}}));
}

TEST(Cut, says_when_steps_are_too_wide_for_the_slots) {
  EXPECT_THROW(cut_parts(1 << 20, 5000), UsageError);
  EXPECT_THROW(cut_parts(1, 1, 8, kLeastSliceBytes / 2), UsageError);
}

TEST(NumSlices, an_empty_message_is_still_a_message) {
  EXPECT_EQ(num_slices(0, 64), 1u);
  EXPECT_EQ(num_slices(64, 64), 1u);
  EXPECT_EQ(num_slices(65, 64), 2u);
}

}  // namespace
}  // namespace ringtree
