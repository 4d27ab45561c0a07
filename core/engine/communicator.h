// A group of ranks that call collectives together. One object a rank; used by one thread at a time. Ranks may be
// processes of this host or threads of one process.
//
// Every call: describe it on the board, look up (or make) its plan, bind the sizes, run. Nothing on the way of a call
// that was made before allocates. After a failure the communicator is unusable and says why at each call.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/engine/call_watch.h"
#include "core/engine/link_directory.h"
#include "core/engine/prepared_call.h"
#include "core/engine/selection.h"

namespace ringtree {

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

  CallKind kind() const { return {collective, dtype, op, root, count}; }
};

/// What was executed, for records and people.
struct LastCall {
  CallDescription description;  // sequence 0: none yet
  std::string reason;           // why `auto` took this configuration; empty if it was asked for
  Configuration configuration;
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
  const Machine& machine() const { return selection_.machine; }
  bool own_cores() const { return selection_.own_cores; }
  size_t shared_bytes() const { return links_.outgoing_bytes(); }

  /// Runs one collective; returns when this rank's part is done and its buffers may be used. Throws UsageError (nothing
  /// has happened), PeerError, TimeoutError, MismatchError, Interrupted, WorldError (the communicator is unusable from
  /// then on).
  void call(const CallArguments& arguments, const AlgorithmRef& algorithm = {});

  /// What `auto` would run, and why.
  std::pair<Configuration, std::string> choose(const CallKind& kind) const {
    return choose_configuration(table_, kind, selection_);
  }

  void set_interrupt_check(InterruptCheck interrupted) { interrupted_ = interrupted; }
  /// Leaves in order and gives all descriptors back; later calls throw UsageError. From any thread: a call that is
  /// under way in another one ends with PeerError. Idempotent.
  void close();

 private:
  void enter();
  void agree_on_profile(Store& store, const std::string& prefix);
  void call_checked(const CallArguments& arguments, const AlgorithmRef& algorithm);
  /// What the call comes to, apart from its plan. Throws UsageError.
  std::unique_ptr<PreparedCall> prepare(const CallKind& kind, const AlgorithmRef& algorithm) const;
  Configuration configuration_of(const CallKind& kind, const AlgorithmRef& algorithm, std::string& reason) const;
  void check_kind(const CallKind& kind) const;
  void check_buffers(const CallArguments& arguments, const PreparedCall& call) const;
  void bind(PreparedCall& call) const;
  /// Makes the plan if there is none. The others have begun the call: on failure they are told.
  void complete(PreparedCall& call, CallWatch& watch);
  void make_plan(PreparedCall& call, CallWatch& watch);
  void run(const CallArguments& arguments, PreparedCall& call, CallWatch& watch);
  int count_cores() const;

  const Settings settings_;
  const AlgorithmTable table_;
  const int fork_count_;
  SharedRegions shared_;
  LinkDirectory links_;
  std::unique_ptr<Session> session_;
  Selection selection_;
  WaitPolicy policy_;
  SpinBudget budget_{policy_};
  InterruptCheck interrupted_ = nullptr;
  std::atomic<bool> in_call_{false}, closed_{false};
  uint64_t sequence_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<Plan>> plans_;
  PreparedCalls prepared_;
  // The last call: put into words only when asked for.
  const PreparedCall* last_ = nullptr;
};

}  // namespace ringtree
