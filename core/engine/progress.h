// How far a call is, for the report of a rank that waits. Not on the way of a call that moves: it is counted when it is
// asked for.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/engine/bound_call.h"
#include "core/engine/plan.h"

namespace ringtree {

/// Bytes of the slice steps done so far, of all lanes.
inline size_t bytes_done(const Plan& plan, const BoundCall& call) {
  size_t done = 0;
  for (size_t lane = 0; lane < plan.lanes.size(); ++lane) {
    const LaneState& state = plan.states[lane];
    for (int i = 0; i < plan.lanes[lane].num_steps; ++i) {
      const PlanStep& step = plan.steps[static_cast<size_t>(plan.lanes[lane].first_step) + static_cast<size_t>(i)];
      const size_t of_a_pass = call.cut.pass_bytes * static_cast<size_t>(step.chunks.count);
      size_t all = 0;
      for (int k = 0; k < step.chunks.count; ++k)
        all += call.part(step.chunks.id(k, call.num_chunks), plan.lanes[lane].channel).length;
      const size_t before = std::min(all, state.pass * of_a_pass);
      const size_t pass = std::min(all - before, of_a_pass);
      done += before + (i < state.step ? pass : 0);
      if (i == state.step) done += std::min(pass, state.slice * call.cut.slice_bytes);
    }
  }
  return done;
}

}  // namespace ringtree
