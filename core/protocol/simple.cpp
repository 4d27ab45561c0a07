// See simple.h.
#include "core/protocol/simple.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace ringtree {
namespace {

// Where a result goes both to the own buffer and to a slot, it is folded in pieces that are still in the first-level
// cache when they are copied on. A multiple of every item size.
constexpr size_t kPieceBytes = 8192;

}  // namespace

void copy_run(const SliceRun& run) {
  if (run.bytes == 0) return;
  const void* input = run.inputs[0];
  if (run.dst && run.dst != input) std::memcpy(run.dst, input, run.bytes);
  if (run.slot) std::memcpy(run.slot, input, run.bytes);
}

void fold_run(const SliceRun& run, FoldKernel fold, size_t item_bytes) {
  if (!run.dst || !run.slot) {
    if (run.bytes > 0) fold(run.dst ? run.dst : run.slot, run.inputs, run.num_inputs, run.bytes / item_bytes);
    return;
  }
  std::array<const void*, kMaxFold> piece_inputs;
  for (size_t at = 0; at < run.bytes; at += kPieceBytes) {
    const size_t bytes = std::min(kPieceBytes, run.bytes - at);
    for (int i = 0; i < run.num_inputs; ++i)
      piece_inputs[static_cast<size_t>(i)] = static_cast<const std::byte*>(run.inputs[i]) + at;
    fold(run.dst + at, piece_inputs.data(), run.num_inputs, bytes / item_bytes);
    std::memcpy(run.slot + at, run.dst + at, bytes);
  }
}

}  // namespace ringtree
