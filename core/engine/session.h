// Session: what holds the ranks of a communicator together, as one of them sees it: the mesh and the port, what peers
// say of themselves (membership.h), and the one failure that ends it (failure_state.h), which it tells the peers. It
// moves no data and makes no links; it passes the peers' link messages on to who does (link_router.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/bootstrap/mesh.h"
#include "core/bootstrap/rendezvous.h"
#include "core/engine/failure_state.h"
#include "core/engine/inlets.h"
#include "core/engine/link_router.h"
#include "core/engine/membership.h"
#include "core/engine/settings.h"
#include "core/transport/tcp_port.h"

namespace ringtree {

class Session {
 public:
  /// What the ranks do in their meeting once they are connected, with what is left of its time.
  using OnceMet = std::function<void(Rendezvous& rendezvous, const Mesh& mesh, Deadline deadline)>;

  /// Meets the other ranks. `router`: who takes link messages, but for those about pages. Throws as Mesh does, and
  /// MismatchError if the settings differ. `once_met` is called when all have met and before any rank's constructor
  /// returns: the last moment at which the store is there for sure, as who serves it may leave at once. What ends the
  /// meeting on one rank is told on all (Rendezvous).
  Session(Store& store, int rank, int world_size, const Settings& settings, const std::string& prefix,
          LinkRouter router, const OnceMet& once_met);
  ~Session();

  int rank() const { return rank_; }
  int world_size() const { return world_size_; }
  Mesh& mesh() { return *mesh_; }
  Membership& members() { return *members_; }
  /// The streams to ranks of other hosts; null if there are none.
  TcpPort* port() { return port_.get(); }
  Inlets inlets() { return {members_->own_page().bell, port_.get()}; }

  /// Tells the ranks of other hosts how this rank stands, and asks them what they know of call `sequence`: their pages
  /// here are as old as what they said last.
  void ask_status(uint64_t sequence) { ask_status(sequence, false); }
  /// The same, and of all calls before it. What comes back counts in Membership::num_histories().
  void ask_history(uint64_t sequence) { ask_status(sequence, true); }

  /// Something happened that a waiting call should look at. Relaxed: it only makes the look come sooner.
  bool attention() const { return attention_.load(std::memory_order_relaxed); }
  void clear_attention() { attention_.store(false, std::memory_order_relaxed); }

  bool failed() const { return failure_.failed(); }
  /// Throws the failure, after passing it on (see pass_on()).
  [[noreturn]] void raise_failure();
  /// Meaningful once failed().
  Failure failure() const { return failure_.get(); }
  /// Ends the communicator here and tells all peers. The first failure wins. `peer`: whose end this is, of a failure
  /// that is one rank's.
  void fail(FailureKind kind, const std::string& text, std::optional<int> peer = {});

  /// Waits until `ready()`, called under the lock that notify() takes, holds. `give_up()` is called without the lock
  /// every few milliseconds and ends the wait by returning true. True if ready.
  bool wait(const std::function<bool()>& ready, const std::function<bool()>& give_up);
  /// Runs `change` under the lock of wait() and wakes waiters.
  void notify(const std::function<void()>& change);

  /// Leaves in order. Idempotent. `in_call`: another thread is in a call, which must have been made to fail.
  void close(bool in_call = false);

 private:
  void meet(Store& store, const Settings& settings, const std::string& prefix, Deadline deadline);
  void make_port(const Settings& settings);
  void share_page(Deadline deadline);
  void on_message(int peer, ControlType type, const std::string& payload, Fd fd);
  void on_gone(int peer, bool said_bye);
  void on_status(int peer, std::string_view payload);
  void on_beat();
  void ask_status(uint64_t sequence, bool of_history);
  void tell_status(int peer, const RankStatus& status);
  void warn_of_suspects();
  bool set_failure(Failure failure);
  void pass_on();
  void rouse();

  const int rank_, world_size_;
  LinkRouter router_;
  const std::function<void(const std::string&)> warn_;
  std::vector<bool> warned_;  // of silent ranks; used by the mesh's thread only
  std::atomic<bool> attention_{false};
  FailureState failure_;
  std::mutex mutex_;  // protects what users of wait() and notify() share
  std::condition_variable changed_;
  std::unique_ptr<Membership> members_;
  std::unique_ptr<TcpPort> port_;
  std::unique_ptr<Mesh> mesh_;  // last: its thread uses the members above
};

}  // namespace ringtree
