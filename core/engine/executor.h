// Runs one bound call of a plan on the calling thread: advances every lane by non-blocking slice steps until all are
// done. The data path: it neither allocates, locks, logs nor throws, and every return to the caller has a reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/engine/bound_call.h"
#include "core/engine/inlets.h"
#include "core/engine/plan.h"
#include "core/engine/wait_policy.h"

namespace ringtree {

class TraceLog;

enum class RunStatus : uint8_t {
  done,
  stopped,   // the watch asked for it: aborted, deadline, interrupted
  mismatch,  // a message of another call arrived; RunResult::peer sent it
};

/// 16 bytes, so that it is returned in registers.
struct RunResult {
  RunStatus status = RunStatus::done;
  int peer = -1;
  uint32_t num_answers = 0;  // slices of sums that peers wrote into this rank's buffer
  uint32_t num_placed = 0;   // messages from other hosts that were received where they belong
};

/// Looked at while the executor waits; implemented by the communicator.
class Watch {
 public:
  virtual ~Watch() = default;
  /// Cheap; looked at many times a millisecond. True: call inspect() now.
  virtual bool attention() const = 0;
  /// Called once, when the run has done what it can do without waiting.
  virtual void first_wait() = 0;
  /// Called before the first of a run's waits, if there is one.
  virtual void before_waits() {}
  /// Dearer: deadlines, departed peers, peers in another call. True: stop the run. Called at least every `kInspectNs`
  /// of waiting.
  virtual bool inspect() = 0;
  /// How far the run is, before each inspection.
  virtual void note_progress(size_t /*done_bytes*/) {}
};

RunResult run_plan(Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget,
                   const Inlets& inlets, bool emulated, Watch& watch);
/// The same; what happens is written into `log`, which was told of the call by begin_call().
RunResult run_plan_traced(Plan& plan, const BoundCall& call, const WaitPolicy& policy, SpinBudget& budget,
                          const Inlets& inlets, bool emulated, Watch& watch, TraceLog& log);

/// A run that somebody else advances, beside others: run_plan() without its loop. Plan and call must outlive it.
class ActiveRun {
 public:
  virtual ~ActiveRun() = default;
  /// Advances as far as it goes without waiting. True if anything moved.
  virtual bool poll() = 0;
  virtual bool finished() = 0;
  virtual int mismatched_peer() const = 0;  // -1: none
  /// Emulated clusters: when something that is under way arrives.
  virtual int64_t next_event_ns() const = 0;
};

/// Memory for one, so that beginning a run allocates nothing.
class RunPlace {
 public:
  RunPlace() = default;
  RunPlace(const RunPlace&) = delete;
  RunPlace& operator=(const RunPlace&) = delete;
  ~RunPlace() { end(); }

  /// Begins a run of a plan whose protocol is simple; ends the one before.
  void begin(Plan& plan, const BoundCall& call, bool emulated);
  void end() {
    if (run_) run_->~ActiveRun();
    run_ = nullptr;
  }
  ActiveRun* run() const { return run_; }

 private:
  ActiveRun* run_ = nullptr;
  alignas(std::max_align_t) std::array<std::byte, 192> memory_;
};

}  // namespace ringtree
