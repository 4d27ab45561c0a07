// See executor.h. Runs that are traced; they differ from those in executor.cpp in what they tell their log.
#include "core/engine/executor.h"
#include "core/engine/run_with.h"
#include "core/engine/trace_log.h"

namespace ringtree {
namespace {

struct Traced {
  static constexpr bool kOn = true;
  TraceLog& log;
};

}  // namespace

RunResult run_plan_traced(Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget,
                          const Inlets& inlets, bool emulated, Watch& watch, TraceLog& log) {
  return run_with(Traced{log}, plan, call, policy, budget, inlets, emulated, watch);
}

}  // namespace ringtree
