// From a plan and a call to the Run (run.h) that they need, and that run from its beginning to its end: what run_plan()
// and run_plan_traced() have in common.
#pragma once

#include "core/engine/link_placer.h"
#include "core/engine/run.h"

namespace ringtree {

template <Protocol kProtocol, bool kEmulated, bool kWhole, class Tracer>
RunResult run_as(Tracer tracer, Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget,
                 const Inlets& inlets, Watch& watch) {
  Run<kProtocol, kEmulated, kWhole, Tracer> run(plan, call, tracer);
  Placing placing(plan, call);
  Waiter waiter(policy, budget, inlets, watch);
  RunResult result = drive(run, waiter, watch);
  result.num_placed = static_cast<uint32_t>(placing.end());
  result.num_answers = static_cast<uint32_t>(run.num_answers());
  if (call.stream_output) stream_fence();  // whoever is told by this thread that the call is done sees the output
  if constexpr (Tracer::kOn) tracer.log.finish(result.status == RunStatus::done);
  return result;
}

/// Picks the Run that the plan and the call need; as run_plan().
template <class Tracer>
RunResult run_with(Tracer tracer, Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget,
                   const Inlets& inlets, bool emulated, Watch& watch) {
  if (emulated) return run_as<Protocol::simple, true, false>(tracer, plan, call, policy, budget, inlets, watch);
  const bool whole = !call.whole_steps.empty();
  switch (plan.protocol) {
    case Protocol::ll:
      return whole ? run_as<Protocol::ll, false, true>(tracer, plan, call, policy, budget, inlets, watch)
                   : run_as<Protocol::ll, false, false>(tracer, plan, call, policy, budget, inlets, watch);
    case Protocol::ll128:
      return whole ? run_as<Protocol::ll128, false, true>(tracer, plan, call, policy, budget, inlets, watch)
                   : run_as<Protocol::ll128, false, false>(tracer, plan, call, policy, budget, inlets, watch);
    case Protocol::simple:
      break;
  }
  return whole ? run_as<Protocol::simple, false, true>(tracer, plan, call, policy, budget, inlets, watch)
               : run_as<Protocol::simple, false, false>(tracer, plan, call, policy, budget, inlets, watch);
}

}  // namespace ringtree
