// A group of ranks that call collectives together. One object a rank; used by one thread at a time, beside the thread
// that runs what was started in the background. Ranks may be processes of this host or threads of one process.
//
// Every call: describe it on the board, look up (or make) its plan, bind the sizes, run. Nothing on the way of a call
// that was made before allocates. After a failure the communicator is unusable and says why at each call.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/engine/call_gate.h"
#include "core/engine/call_preparer.h"
#include "core/engine/call_watch.h"
#include "core/engine/caller_lock.h"
#include "core/engine/link_directory.h"
#include "core/engine/part_maker.h"
#include "core/engine/point_to_point.h"
#include "core/engine/trace_log.h"
#include "core/engine/work.h"

namespace ringtree {

/// What was executed, for records and people.
struct LastCall {
  CallDescription description;  // sequence 0: none yet
  std::string reason;           // why `auto` took this configuration; empty if it was asked for
  Configuration configuration;
  Cut cut;
  int num_channels = 0, num_lanes = 0, num_chunks = 0;
  size_t num_answers = 0;  // slices of sums that peers wrote into this rank's buffer
  size_t num_placed = 0;   // messages from other hosts that were received where they belong
};

class Communicator {
 public:
  /// Meets the other ranks; blocks until all have come. Errors as Session's constructor. `store` must outlive it if it
  /// is split.
  Communicator(Store& store, int rank, int world_size, const Settings& settings, AlgorithmTable table,
               const std::string& prefix = "ringtree");
  ~Communicator();

  int rank() const { return session_->rank(); }
  int world_size() const { return session_->world_size(); }
  const Settings& settings() const { return settings_; }
  LastCall last_call() const;
  const Machine& machine() const { return preparer_->selection().machine; }
  bool own_cores() const { return preparer_->selection().own_cores; }
  size_t shared_bytes() const { return links_.outgoing_bytes(); }
  /// By rank, the number of its host; hosts are counted in the order of their first ranks.
  const std::vector<int>& hosts() const { return session_->mesh().hosts(); }
  /// Of each rank that is no longer there, as far as this one has heard: whether it died; else it left in order. From
  /// any thread.
  std::map<int, bool> gone() const;
  /// Bytes that this rank has exchanged with ranks of other hosts, headers included. When no call is under way.
  std::pair<uint64_t, uint64_t> network_bytes() const {
    const TcpPort* port = session_->port();
    return port ? std::pair(port->bytes_sent(), port->bytes_received()) : std::pair<uint64_t, uint64_t>(0, 0);
  }

  /// Runs one collective; returns when this rank's part is done and its buffers may be used. Calls that were started
  /// before come first. Throws UsageError (nothing has happened), PeerError, TimeoutError, MismatchError, Interrupted,
  /// WorldError (the communicator is unusable from then on). `lock`: one that the caller holds meanwhile; it is let go
  /// before the call waits for anybody, and not at all if the call is done without.
  void run(const Call& call, CallerLock* lock = nullptr);
  /// Runs transfers with other ranks, all at once (point_to_point.h). Errors as run().
  void transfer(std::span<const Transfer> transfers, double timeout_s = 0);

  /// The same in the background, in the order in which they are started. Buffers must live until the work is done;
  /// counts are copied. What is wrong with a call is found when its turn comes, and told by Work::wait().
  std::shared_ptr<Work> start(const Call& call);
  std::shared_ptr<Work> start(std::vector<Transfer> transfers, double timeout_s = 0);

  /// Messages with tags (mailbox.h): come back at once, from any thread; `done` is told on a thread of the communicator
  /// how the message ended (tagged_message.h). From the first one on the communicator makes no other calls. The rank
  /// itself is allowed as a peer, and kAnySource for a receive. `timeout_s` 0: the communicator's. Throws UsageError,
  /// and `done` is then not called.
  void post_send(int peer, int tag, const void* data, size_t bytes, double timeout_s, TaggedMessage::Done done);
  void post_recv(int peer, int tag, void* data, size_t bytes, double timeout_s, TaggedMessage::Done done);

  /// From now on collectives write down what this rank does in them, slice step by slice step, into memory for
  /// `capacity` events (trace_log.h); transfers do not. What was traced before and not taken is gone. Calls that were
  /// started before come first. Throws UsageError. A call that is not traced pays one comparison for it.
  void start_trace(size_t capacity);
  /// Ends that and gives what was written, also after a failure. Throws UsageError if nothing was started.
  Trace take_trace();

  /// What `auto` would run, and why.
  std::pair<Configuration, std::string> choose(const CallKind& kind) const { return preparer_->choose(kind); }

  /// Makes communicators of parts of this one: ranks that give the same `color` form one, in the order of `key`, then
  /// of rank. Null for a negative color. Called by all ranks. Errors as the constructor and run().
  std::unique_ptr<Communicator> split(int color, int key);

  /// After a failure: a new communicator of the ranks that are still there, in the order of ranks. Called by all of
  /// them; waits until all have, or have gone too. TimeoutError: not in time (Settings::timeout_s).
  std::unique_ptr<Communicator> shrink();

  /// Ends the communicator on all ranks: whatever is under way or called later throws WorldError with `reason`. From
  /// any thread.
  void abort(const std::string& reason);
  /// What has ended the communicator, here or on another rank; none while it is usable. From any thread.
  std::optional<Failure> failure() const {
    return session_->failed() ? std::optional(session_->failure()) : std::nullopt;
  }

  void set_interrupt_check(InterruptCheck interrupted) { interrupted_ = interrupted; }
  InterruptCheck interrupt_check() const { return interrupted_; }
  /// Leaves in order, once what was started is done, and gives all descriptors back; later calls throw UsageError. From
  /// any thread: a run() that is under way in another one ends with PeerError. Sends of messages are brought to their
  /// end, receives end with UsageError; not while a message is `done` (UsageError). Idempotent.
  void close();

 private:
  void check_fork() const;
  template <class Body>
  void run_exclusively(const Body& body, CallerLock* lock = nullptr);
  template <class Body>
  void run_alone(const Body& body, CallerLock* lock = nullptr);
  void post(TaggedMessage message);
  LinkRouter router();
  void run_checked(const Call& call, CallerLock* lock);
  /// Makes the plan if there is none. The others have begun the call: on failure they are told.
  void complete(PreparedCall& call, CallWatch& watch);
  void make_plan(PreparedCall& call, CallWatch& watch);
  /// Gives prepared.bound the call's buffers, and what depends on where they lie.
  void bind_buffers(const Call& call, PreparedCall& prepared, CallerLock* lock);
  void execute(const Call& call, PreparedCall& prepared, CallWatch& watch);
  const void* scaled_input(const Call& call, const PreparedCall& prepared);
  /// None on the thread of started calls: signals are not for it, and who waits for it may hold Python's lock.
  InterruptCheck interrupt_here() const { return interrupted_ && !queue_.is_own_thread() ? interrupted_ : nullptr; }
  /// Throws UsageError: it can have no parts.
  PartMaker::Whole whole() const;

  friend class PartMaker;  // gives a part the store that it was made through

  const Settings settings_;
  const int fork_count_;
  PartMaker parts_;
  SharedRegions shared_;
  LinkDirectory links_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<const CallPreparer> preparer_;  // from the constructor's end on
  WaitPolicy policy_;
  SpinBudget budget_{policy_};
  InterruptCheck interrupted_ = nullptr;
  uint64_t sequence_ = 0;
  uint64_t history_ = 0;  // of all calls so far, the one under way included (CallDescription::history)
  Plans plans_;
  PreparedCalls prepared_;
  std::unique_ptr<PointToPoint> transfers_;
  std::vector<std::byte> scaled_;    // premul_sum: the input, multiplied, where nothing else can hold it
  std::unique_ptr<TraceLog> trace_;  // null: calls are not traced
  // The last call: put into words only when asked for.
  const PreparedCall* last_ = nullptr;
  std::mutex closing_mutex_;  // of close(); taken before no other
  // Last: their threads use the members above.
  CallGate gate_;
  WorkQueue queue_;
};

}  // namespace ringtree
