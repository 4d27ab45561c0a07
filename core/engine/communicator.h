// A group of ranks that call collectives together. One object a rank; used by one thread at a time. Ranks may be
// processes of this host or threads of one process.
//
// Every call: describe it on the board, look up (or make) its plan, bind the sizes, run. Nothing on the way of a call
// whose plan exists allocates. After a failure the communicator is unusable and says why at each call.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/engine/bound_call.h"
#include "core/engine/call_watch.h"
#include "core/engine/link_directory.h"
#include "core/engine/selection.h"

namespace ringtree {

/// Names the schedule of a call: a built-in algorithm, or a schedule of the user's own that has been verified.
struct AlgorithmRef {
  std::string name = "auto";
  std::shared_ptr<const Schedule> own;  // if set, it counts; its structural hash is own_hash
  uint64_t own_hash = 0;
};

/// The buffers and kind of a call. `count` is in elements: of the vector (all_reduce, broadcast, reduce) or of one
/// rank's block (reduce_scatter, all_gather). Buffers may be null where the rank has no such data. In place: input and
/// output are the same memory, block by block (all_gather: input is the own block of output; reduce_scatter: output is
/// the own block of input).
struct CallArguments {
  Collective collective = Collective::all_reduce;
  Dtype dtype = Dtype::kFloat32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  size_t count = 0;
  const void* input = nullptr;
  void* output = nullptr;
  double timeout_s = 0;  // 0: the communicator's
};

/// What was executed, for records and people.
struct LastCall {
  CallDescription description;  // sequence 0: none yet
  std::string reason;           // why `auto` took this algorithm; empty if it was asked for
  Cut cut;
  int num_channels = 0, num_lanes = 0, num_chunks = 0;
};

class Communicator {
 public:
  /// Meets the other ranks; blocks until all have come. Errors as Session's constructor.
  Communicator(Store& store, int rank, int world_size, const Settings& settings, AlgorithmTable table,
               const std::string& prefix = "ringtree");
  ~Communicator();

  int rank() const { return session_->rank(); }
  int world_size() const { return session_->world_size(); }
  const Settings& settings() const { return settings_; }
  LastCall last_call() const;
  const Machine& machine() const { return machine_; }
  bool own_cores() const { return own_cores_; }
  size_t shared_bytes() const { return links_.outgoing_bytes(); }

  /// Runs one collective; returns when this rank's part is done and its buffers may be used. Throws UsageError (nothing
  /// has happened), PeerError, TimeoutError, MismatchError, Interrupted, WorldError (the communicator is unusable from
  /// then on).
  void call(const CallArguments& arguments, const AlgorithmRef& algorithm = {});

  /// What `auto` would run.
  AlgorithmChoice choose(Collective collective, size_t count, Dtype dtype, int root = 0) const;

  void set_interrupt_check(InterruptCheck interrupted) { interrupted_ = interrupted; }
  /// Leaves in order and gives all descriptors back; later calls throw UsageError. From any thread: a call that is
  /// under way in another one ends with PeerError. Idempotent.
  void close();

 private:
  struct Resolved {
    const AlgorithmRef* reference;
    const std::string* name;
    const std::string* reason;  // null unless chosen by `auto`
    uint64_t plan_key;
  };

  void call_checked(const CallArguments& arguments, const AlgorithmRef& algorithm);
  void check(const CallArguments& arguments) const;
  Resolved resolve(const CallArguments& arguments, const AlgorithmRef& algorithm);
  std::shared_ptr<const Schedule> schedule_for(const CallArguments& arguments, const Resolved& resolved) const;
  Plan& make_plan(std::shared_ptr<const Schedule> schedule, uint64_t plan_key, CallWatch& watch);
  void run(const CallArguments& arguments, Plan& plan, const CallDescription& call, CallWatch& watch);
  int count_cores() const;

  const Settings settings_;
  const AlgorithmTable table_;
  const int pid_;
  LinkDirectory links_;
  std::unique_ptr<Session> session_;
  Machine machine_;
  bool own_cores_ = false;
  WaitPolicy policy_;
  SpinBudget budget_{policy_};
  InterruptCheck interrupted_ = nullptr;
  std::atomic<bool> in_call_{false}, closed_{false};
  uint64_t sequence_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<Plan>> plans_;
  std::unordered_map<uint64_t, AlgorithmChoice> choices_;
  // Of the last call: kept as found, put into words only when asked for.
  CallDescription last_description_;
  const std::string* last_reason_ = nullptr;
  const Plan* last_plan_ = nullptr;
  Cut last_cut_;
};

}  // namespace ringtree
