// See executor.h. Here runs that are not traced; those that are: executor_traced.cpp, so that neither changes how the
// other is compiled.
#include "core/engine/executor.h"

#include <algorithm>

#include "core/engine/link_placer.h"
#include "core/engine/run_with.h"

namespace ringtree {
namespace {

/// Writes no trace: whatever of Run is about one is left out. Local to this file, as then is what is made with it, and
/// the compiler may inline all of a run into one function.
struct Untraced {
  static constexpr bool kOn = false;
};

template <class AnyRun>
class Active final : public ActiveRun {
 public:
  Active(Plan& plan, const BoundCall& call)
      : run_(plan, call, Untraced{}), placing_(plan, call), streams_(call.stream_output) {}
  ~Active() override {
    if (streams_) stream_fence();
  }
  bool poll() override { return run_.poll(); }
  bool finished() override { return run_.finished(); }
  int mismatched_peer() const override { return run_.mismatched_peer(); }
  int64_t next_event_ns() const override { return run_.next_event_ns(); }

 private:
  AnyRun run_;
  Placing placing_;
  bool streams_;
};

using ActiveEmulated = Active<Run<Protocol::simple, true, Untraced>>;
using ActiveSliced = Active<Run<Protocol::simple, false, Untraced>>;
using ActiveWhole = Active<WholeRun<Protocol::simple, Untraced>>;

}  // namespace

RunResult run_plan(Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget,
                   const Inlets& inlets, bool emulated, Watch& watch) {
  return run_with(Untraced{}, plan, call, policy, budget, inlets, emulated, watch);
}

void RunPlace::begin(Plan& plan, const BoundCall& call, bool emulated) {
  static_assert(std::max({sizeof(ActiveEmulated), sizeof(ActiveSliced), sizeof(ActiveWhole)}) <= sizeof(memory_));
  end();
  if (emulated) {
    run_ = new (memory_.data()) ActiveEmulated(plan, call);
  } else if (call.whole_steps.empty()) {
    run_ = new (memory_.data()) ActiveSliced(plan, call);
  } else {
    run_ = new (memory_.data()) ActiveWhole(plan, call);
  }
}

}  // namespace ringtree
