// See layout.h.
#include "core/schedule/layout.h"

#include <algorithm>

#include "core/base/error.h"

namespace ringtree {
namespace {

constexpr size_t divide_up(size_t value, size_t by) { return (value + by - 1) / by; }
constexpr size_t round_up(size_t value, size_t grain) { return divide_up(value, grain) * grain; }

}  // namespace

RankLayout::RankLayout(const ScheduleShape& shape, int rank, size_t count) {
  std::vector<Part> blocks(static_cast<size_t>(num_blocks(shape.collective, shape.num_ranks)), Part{count, 0, 0});
  place(blocks, shape, rank);
}

RankLayout::RankLayout(const ScheduleShape& shape, int rank, std::span<const uint64_t> counts) {
  const size_t n = static_cast<size_t>(shape.num_ranks), own = static_cast<size_t>(rank);
  std::vector<Part> blocks(static_cast<size_t>(num_blocks(shape.collective, shape.num_ranks)));
  for (size_t i = 0; i < n; ++i) {
    if (blocks.size() == n) {
      blocks[i].length = counts[i];
    } else {
      blocks[own * n + i].length = counts[i];
      blocks[i * n + own].length = counts[n + i];
    }
  }
  place(blocks, shape, rank);
}

// Blocks lie side by side in each buffer, in the order of their numbers.
void RankLayout::place(std::vector<Part>& blocks, const ScheduleShape& shape, int rank) {
  const int num = static_cast<int>(blocks.size());
  per_block_ = shape.num_chunks / num;
  // Spans of blocks are spans of chunks of a schedule that has one chunk a block.
  const ChunkSpan in = input_span(shape.collective, shape.num_ranks, num, shape.root, rank),
                  out = output_span(shape.collective, shape.num_ranks, num, shape.root, rank);
  size_t whole = 0;
  for (int i = 0; i < num; ++i) {
    Part& block = blocks[static_cast<size_t>(i)];
    if (i == in.first && can_be_in_place(shape.collective)) input_.offset = whole;
    if (i == out.first && can_be_in_place(shape.collective)) output_.offset = whole;
    if (in.contains(i)) {
      block.input = input_.length;
      input_.length += block.length;
    }
    if (out.contains(i)) {
      block.output = output_.length;
      output_.length += block.length;
    }
    whole += block.length;
  }
  blocks_ = std::move(blocks);
}

RankLayout::Part RankLayout::part(int id, int channel, int num_channels) const {
  const Part& block = blocks_[static_cast<size_t>(id / per_block_)];
  const Extent in_block = even_part(block.length, per_block_, id % per_block_);
  const Extent inside = even_part(in_block.length, num_channels, channel);
  const size_t at = in_block.offset + inside.offset;
  return {inside.length, block.input + at, block.output + at};
}

size_t RankLayout::longest_chunk() const {
  size_t longest = 0;
  for (const Part& block : blocks_) longest = std::max(longest, even_part(block.length, per_block_, 0).length);
  return longest;
}

Cut cut_parts(size_t longest_bytes, int widest, int slots, size_t slot_bytes, size_t wanted_slice_bytes, bool even) {
  constexpr size_t kGrain = 64;  // a cache line, and a multiple of every item size: no item or line is cut in two
  // Even slices begin at multiples of this, so that cutting never puts the buffer a few bytes behind its slot within a
  // page, which is slow to copy (core/protocol/simple.cpp).
  constexpr size_t kEvenGrain = 1024;
  const size_t per_step = static_cast<size_t>(slots / 2), width = static_cast<size_t>(widest);
  const size_t least = round_up(std::max(kLeastSliceBytes, divide_up(width * kGrain, per_step)), kGrain);
  if (least > slot_bytes)
    throw UsageError("steps of " + std::to_string(widest) + " chunks do not fit into slots of " +
                     std::to_string(slot_bytes) + " bytes");
  const size_t num_wanted = std::clamp<size_t>(longest_bytes * width / least, 1, per_step);
  const size_t wanted = wanted_slice_bytes > 0 ? wanted_slice_bytes : divide_up(longest_bytes * width, num_wanted);
  Cut cut;
  cut.slice_bytes = std::clamp(round_up(wanted, kGrain), least, slot_bytes);
  cut.pass_bytes = per_step * cut.slice_bytes / width / kGrain * kGrain;
  cut.num_passes = std::max<size_t>(1, divide_up(longest_bytes, cut.pass_bytes));
  if (!even) return cut;
  if (cut.num_passes > 1) {
    cut.pass_bytes = std::min(cut.pass_bytes, round_up(divide_up(longest_bytes, cut.num_passes), kEvenGrain));
    cut.num_passes = divide_up(longest_bytes, cut.pass_bytes);
  }
  const size_t step_bytes = std::min(longest_bytes, cut.pass_bytes) * width;
  const size_t slices = num_slices(step_bytes, cut.slice_bytes);
  if (slices > 1) cut.slice_bytes = std::min(cut.slice_bytes, round_up(divide_up(step_bytes, slices), kEvenGrain));
  return cut;
}

}  // namespace ringtree
