// See layout.h.
#include "core/schedule/layout.h"

#include <algorithm>

#include "core/base/error.h"

namespace ringtree {
namespace {

constexpr size_t round_up(size_t value, size_t grain) { return (value + grain - 1) / grain * grain; }

}  // namespace

Cut cut_parts(size_t longest_bytes, int widest, int slots, size_t slot_bytes, size_t wanted_slice_bytes) {
  constexpr size_t kGrain = 64;  // a cache line, and a multiple of every item size: no item or line is cut in two
  const size_t per_step = static_cast<size_t>(slots / 2), width = static_cast<size_t>(widest);
  const size_t least = round_up(std::max(kLeastSliceBytes, (width * kGrain + per_step - 1) / per_step), kGrain);
  if (least > slot_bytes)
    throw UsageError("steps of " + std::to_string(widest) + " chunks do not fit slots of " +
                     std::to_string(slot_bytes) + " bytes");
  const size_t wanted = wanted_slice_bytes > 0 ? wanted_slice_bytes : (longest_bytes * width + per_step - 1) / per_step;
  Cut cut;
  cut.slice_bytes = std::clamp(round_up(wanted, kGrain), least, slot_bytes);
  cut.pass_bytes = per_step * cut.slice_bytes / width / kGrain * kGrain;
  cut.num_passes = std::max<size_t>(1, (longest_bytes + cut.pass_bytes - 1) / cut.pass_bytes);
  return cut;
}

}  // namespace ringtree
