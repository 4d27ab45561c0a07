// A plan's sizes for one call: where each chunk's bytes lie in the caller's buffers and how they are cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/reduce/kernels.h"
#include "core/schedule/layout.h"

namespace ringtree {

struct BoundCall {
  const std::byte* input = nullptr;  // of the rank's input span
  std::byte* output = nullptr;       // of the rank's output span
  size_t input_origin = 0;           // bytes of the whole vector before the input span
  size_t output_origin = 0;
  Layout layout;
  Cut cut;
  size_t item_bytes = 1;
  int num_channels = 1;
  FoldKernel fold = nullptr;  // null where the collective does not reduce
  uint64_t fingerprint = 0;

  /// Bytes of chunk `id`'s part for `channel`, in the whole vector.
  Extent part_bytes(int id, int channel) const {
    const Extent part = layout.part(id, channel, num_channels);
    return {part.offset * item_bytes, part.length * item_bytes};
  }
  /// Bytes of a part that pass `pass` works on.
  size_t piece_bytes(size_t part_length, size_t pass) const {
    const size_t before = pass * cut.pass_bytes;
    return part_length <= before ? 0 : std::min(part_length - before, cut.pass_bytes);
  }
};

}  // namespace ringtree
