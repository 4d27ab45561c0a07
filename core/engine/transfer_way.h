// One direction between this rank and a peer, outside of collectives: a plan of one step over a link of its own (so
// that it never meets the messages of collectives), made by the first message, and one message at a time over it. What
// send and recv (point_to_point.h) and tagged messages (mailbox.h) share; not here: who waits for what, and for how
// long.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/engine/bound_call.h"
#include "core/engine/executor.h"
#include "core/engine/link_directory.h"
#include "core/engine/plan.h"

namespace ringtree {

struct Transfer {
  bool sends = true;  // else it receives
  int peer = 0;
  Dtype dtype = Dtype::kFloat32;
  size_t count = 0;  // elements; alike on both sides, as is the dtype
  void* data = nullptr;

  /// "send of 8 float32 to rank 2"
  std::string to_string() const;
};

class TransferWay {
 public:
  /// What a message is to both ends: none is taken for one of another kind.
  enum class Kind : uint8_t { transfer, header, payload };
  /// Of the communicator; they outlive the way.
  struct Parts {
    Session& session;
    LinkDirectory& links;
    SharedRegions& shared;
    const Settings& settings;
  };

  /// `peer`: not the rank itself.
  TransferWay(const Parts& parts, int peer, bool sends);

  int peer() const { return peer_; }
  bool sends() const { return sends_; }
  uint64_t num_begun() const { return sequence_; }

  bool has_plan() const { return plan_ != nullptr; }
  /// Whether make_plan() would not wait for the peer: who sends makes the link, who receives needs its announcement.
  bool may_make_plan() { return sends_ || parts_.links.is_announced(key_, peer_, kTag); }
  /// Makes the plan and, where this rank sends, the link. `what`, for people, is about to begin: if that fails, the
  /// communicator ends, as the peer would wait, and what was thrown is thrown on. `give_up` as in Session::wait().
  void make_plan(const std::string& what, const std::function<bool()>& give_up);

  /// Begins a message; there is a plan, and none is under way. Allocates nothing but for the first.
  void begin(const Transfer& transfer, Kind kind);
  /// The message under way; null: none.
  ActiveRun* run() const { return place_.run(); }
  void end() { place_.end(); }

  /// At a look while something of this way is open: whether the peer has gone and nothing of it can come any more.
  bool is_cut_off();

 private:
  static constexpr int kTag = 1 << 30;  // no schedule's: a link that collectives share would mix their messages up

  const Parts parts_;
  const int peer_;
  const bool sends_;
  const uint64_t key_;  // of the plan
  const std::shared_ptr<const Schedule> schedule_;
  uint64_t sequence_ = 0;  // of messages begun, alike at both ends
  std::unique_ptr<Plan> plan_;
  BoundCall call_;
  RunPlace place_;
  int looks_at_gone_ = 0;
  int64_t gone_since_ns_ = 0;  // 0: the peer has not gone
};

/// Ends the communicator: `peer` has gone, before `what` of this rank was complete.
void fail_for_gone_peer(Session& session, int peer, const std::string& what);

/// "the recv of … of rank 0 (pid 4711) was not complete after 2 s"
std::string late_text(Session& session, const std::string& what, double timeout_s);

}  // namespace ringtree
