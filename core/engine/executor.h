// Runs one bound call of a plan on the calling thread: advances every lane by non-blocking slice steps until all are
// done. The data path: it neither allocates, locks, logs nor throws, and every return to the caller has a reason.
#pragma once

#include <cstdint>

#include "core/engine/bound_call.h"
#include "core/engine/plan.h"
#include "core/engine/wait_policy.h"

namespace ringtree {

enum class RunStatus : uint8_t {
  done,
  stopped,   // the watch asked for it: aborted, deadline, interrupted
  mismatch,  // a message of another call arrived; RunResult::peer sent it
};

struct RunResult {
  RunStatus status = RunStatus::done;
  int peer = -1;
};

/// Looked at while the executor waits; implemented by the communicator.
class Watch {
 public:
  virtual ~Watch() = default;
  /// Cheap; looked at many times a millisecond. True: call inspect() now.
  virtual bool attention() const = 0;
  /// Called once, when the run has done what it can do without waiting.
  virtual void first_wait() = 0;
  /// Dearer: deadlines, departed peers, peers in another call. True: stop the run. Called at least every `kInspectNs`
  /// of waiting.
  virtual bool inspect() = 0;
};

RunResult run_plan(Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget, Doorbell& bell,
                   bool emulated, Watch& watch);

}  // namespace ringtree
