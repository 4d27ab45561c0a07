// WholeStep: a step of a small call, in which every step is one slice of one chunk, in one pass; with all that it needs
// in one place. Worked out when the call is prepared (bind_whole_steps()): on the way from a message's arrival to the
// next one's leaving, which is what such a call takes, nothing is looked up twice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/transport/link.h"

namespace ringtree {

struct PlanDependency;
struct PlanStep;

struct WholeStep {
  bool reduces = false;
  /// Its messages travel in lines, beside their flags (link_memory.h), and are never placed: the shortest way.
  bool in_lines = false;
  uint8_t src_base = 0, dst_base = 0;  // a Buffer: where the offset counts from; of scratch it is an address
  int src_at = 0;                      // before which message the rank's own operand stands
  int num_recv = 0, num_dependencies = 0;
  size_t bytes = 0, items = 0;
  size_t src = 0, dst = 0;
  SendEnd* send = nullptr;
  RecvEnd* const* recv = nullptr;
  const PlanDependency* dependencies = nullptr;
  const PlanStep* step = nullptr;  // for the rest
};

}  // namespace ringtree
