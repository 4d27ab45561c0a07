// Where chunks lie and how they are cut: chunk -> elements, channel parts, passes and slices. Shared by the engine,
// which moves the bytes, and the model, which times them, so that both cut alike.
//
// A chunk's part for one channel is cut into passes of `pass_bytes`; in a pass a step's operand (its chunks laid end to
// end) is cut into slices of `slice_bytes`. The pass rule, no step has more than slots/2 slices in a pass, is what
// frees every verified schedule from deadlock at every size (docs/decisions/0003).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/shape.h"

namespace ringtree {

/// A run of elements.
struct Extent {
  size_t offset = 0;
  size_t length = 0;
};

/// Part `index` of `total` elements in `parts` pieces; the first (total mod parts) are one longer.
constexpr Extent even_part(size_t total, int parts, int index) {
  const size_t base = total / static_cast<size_t>(parts), extra = total % static_cast<size_t>(parts),
               i = static_cast<size_t>(index);
  return {i * base + (i < extra ? i : extra), base + (i < extra ? 1 : 0)};
}

/// Where the chunks of a collective of `count` elements lie, in the collective's whole vector, if blocks are equal.
class Layout {
 public:
  /// `count`: elements of a block; of the whole vector where the collective has one block (all_reduce, broadcast,
  /// reduce).
  Layout(const ScheduleShape& shape, size_t count)
      : blocks_(static_cast<int>(num_blocks(shape.collective, shape.num_ranks))),
        per_block_(shape.num_chunks / blocks_),
        count_(count) {}

  Extent chunk(int id) const {
    const Extent in_block = even_part(count_, per_block_, id % per_block_);
    return {static_cast<size_t>(id / per_block_) * count_ + in_block.offset, in_block.length};
  }
  /// The part of chunk `id` that channel `channel` of `num_channels` works on.
  Extent part(int id, int channel, int num_channels) const {
    const Extent whole = chunk(id), inside = even_part(whole.length, num_channels, channel);
    return {whole.offset + inside.offset, inside.length};
  }
  /// Elements of the longest chunk.
  size_t longest_chunk() const { return even_part(count_, per_block_, 0).length; }
  /// Elements of the whole vector.
  size_t total() const { return static_cast<size_t>(blocks_) * count_; }

 private:
  int blocks_;
  int per_block_;
  size_t count_;
};

/// Where chunks lie in one rank's own input and output.
class RankLayout {
 public:
  /// Equal blocks of `count` elements.
  RankLayout(const ScheduleShape& shape, int rank, size_t count);
  /// Blocks of any length, side by side in input and output. `counts`: elements of each rank's block; for all_to_all of
  /// the blocks that this rank sends, by receiver, then of those that it gets, by sender (2n numbers).
  RankLayout(const ScheduleShape& shape, int rank, std::span<const uint64_t> counts);

  /// Elements. Where a part begins in a buffer that does not hold it is 0.
  struct Part {
    size_t length = 0, input = 0, output = 0;
  };
  /// The part of chunk `id` that channel `channel` of `num_channels` works on.
  Part part(int id, int channel, int num_channels) const;
  /// Elements of the longest chunk that this rank knows of.
  size_t longest_chunk() const;
  /// This rank's input and output as a whole: length, and where they begin in the collective's whole vector, in which
  /// the same element of input and output has the same place (nothing of the kind for all_to_all).
  Extent input() const { return input_; }
  Extent output() const { return output_; }

 private:
  void place(std::vector<Part>& blocks, const ScheduleShape& shape, int rank);

  int per_block_;
  std::vector<Part> blocks_;
  Extent input_, output_;
};

/// How parts are cut; the same on every rank.
struct Cut {
  size_t slice_bytes = 0;
  size_t pass_bytes = 0;  // of each chunk part
  size_t num_passes = 1;
};

inline constexpr int kSlots = 8;                       // of each link, as NCCL_STEPS
inline constexpr size_t kSlotBytes = size_t{1} << 16;  // 64 KB
inline constexpr size_t kLeastSliceBytes = size_t{1} << 13;

/// Cuts chunk parts of at most `longest_bytes` for steps of up to `widest` chunks: about slots/2 slices a step, so that
/// small operands stream too, none above `slot_bytes`. With `wanted_slice_bytes` above 0 slices are of at most that
/// size, within what slots and steps allow. `even`: no pass or slice is much shorter than the others, as a slot that
/// carries a short message now and a long one later is slow to write (docs/decisions/0037). False where ranks may know
/// different lengths: then only the number of passes depends on `longest_bytes`.
Cut cut_parts(size_t longest_bytes, int widest, int slots = kSlots, size_t slot_bytes = kSlotBytes,
              size_t wanted_slice_bytes = 0, bool even = true);

/// Slices of a step of `bytes` bytes in one pass: at least one, since an empty message still carries the call's order.
constexpr size_t num_slices(size_t bytes, size_t slice_bytes) {
  return bytes == 0 ? 1 : (bytes + slice_bytes - 1) / slice_bytes;
}

}  // namespace ringtree
