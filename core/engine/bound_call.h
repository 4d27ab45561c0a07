// A plan's sizes for one call: where each chunk's bytes lie in the caller's buffers and how they are cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engine/shared_regions.h"
#include "core/engine/whole_step.h"
#include "core/reduce/kernels.h"
#include "core/schedule/layout.h"

namespace ringtree {

struct BoundCall {
  /// In bytes.
  using Part = RankLayout::Part;

  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  /// Each chunk's part for each channel: channel · num_chunks + chunk. Computed once for calls of one size, since a
  /// division costs more than a small message.
  std::vector<Part> parts;
  int num_chunks = 1;
  /// Blocks have lengths of their own, and a rank may not know all of them: a message then also says how long its
  /// operand is.
  bool uneven = false;
  std::vector<WholeStep> whole_steps;  // of each step of the plan, if the call is small, else empty
  Cut cut;
  size_t item_bytes = 1;
  FoldKernel fold = nullptr;  // null where the collective does not reduce
  uint32_t fingerprint = 0;
  SharedOperand shared_input, shared_output;  // if peers can read them in place
  bool in_place = false;                      // input and output are the same memory
  bool answered = false;                      // ... in which peers may write sums
  bool stream_output = false;                 // what goes to the output is written around the caches
  bool cache_output = false;                  // never: the caller asked for that

  /// Of messages where blocks differ: one of another length than its receiver expects is one of another call.
  uint32_t fingerprint_of(size_t bytes) const {
    return fingerprint + static_cast<uint32_t>(bytes * 0x9e3779b97f4a7c15u >> 32);
  }

  const Part& part(int id, int channel) const {
    return parts[static_cast<size_t>(channel) * static_cast<size_t>(num_chunks) + static_cast<size_t>(id)];
  }
  /// Bytes of a part that pass `pass` works on.
  size_t piece_bytes(size_t part_length, size_t pass) const {
    const size_t before = pass * cut.pass_bytes;
    return part_length <= before ? 0 : std::min(part_length - before, cut.pass_bytes);
  }
};

/// Fills `parts` (its memory is used again).
inline void bind_parts(BoundCall& call, const RankLayout& layout, int num_chunks, int num_channels, size_t item_bytes) {
  call.num_chunks = num_chunks;
  call.parts.clear();
  for (int channel = 0; channel < num_channels; ++channel)
    for (int id = 0; id < num_chunks; ++id) {
      const BoundCall::Part part = layout.part(id, channel, num_channels);
      call.parts.push_back({part.length * item_bytes, part.input * item_bytes, part.output * item_bytes});
    }
}

}  // namespace ringtree
