// From a plan and a call to the Run (run.h) that they need, and that run from its beginning to its end: what run_plan()
// and run_plan_traced() have in common.
#pragma once

#include "core/engine/link_placer.h"
#include "core/engine/run.h"
#include "core/engine/whole_run.h"

namespace ringtree {

/// `AnyRun`: a Run or a WholeRun.
template <class AnyRun, class Tracer>
RunResult run_as(Tracer tracer, Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget,
                 const Inlets& inlets, Watch& watch) {
  AnyRun run(plan, call, tracer);
  Placing placing(plan, call);
  Waiter waiter(policy, budget, inlets, watch);
  RunResult result = drive(run, waiter, watch);
  result.num_placed = static_cast<uint32_t>(placing.end());
  result.num_answers = static_cast<uint32_t>(run.num_answers());
  if (call.stream_output) stream_fence();  // whoever is told by this thread that the call is done sees the output
  if constexpr (Tracer::kOn) tracer.log.finish(result.status == RunStatus::done);
  return result;
}

/// The same of a plan of the protocol.
template <Protocol kProtocol, class Tracer>
RunResult run_over(Tracer tracer, Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget,
                   const Inlets& inlets, Watch& watch) {
  if (call.whole_steps.empty())
    return run_as<Run<kProtocol, false, Tracer>>(tracer, plan, call, policy, budget, inlets, watch);
  return run_as<WholeRun<kProtocol, Tracer>>(tracer, plan, call, policy, budget, inlets, watch);
}

/// Picks the run that the plan and the call need; as run_plan().
template <class Tracer>
RunResult run_with(Tracer tracer, Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget,
                   const Inlets& inlets, bool emulated, Watch& watch) {
  if (emulated) return run_as<Run<Protocol::simple, true, Tracer>>(tracer, plan, call, policy, budget, inlets, watch);
  switch (plan.protocol) {
    case Protocol::ll:
      return run_over<Protocol::ll>(tracer, plan, call, policy, budget, inlets, watch);
    case Protocol::ll128:
      return run_over<Protocol::ll128>(tracer, plan, call, policy, budget, inlets, watch);
    case Protocol::simple:
      break;
  }
  return run_over<Protocol::simple>(tracer, plan, call, policy, budget, inlets, watch);
}

}  // namespace ringtree
