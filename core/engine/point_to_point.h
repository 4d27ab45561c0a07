// send and recv: messages between two ranks, any number of them at once. Each direction between two ranks is a plan of
// one step over a link of its own (so that they never meet the messages of collectives); the first transfer makes it.
//
// Transfers of one direction run in the order in which they are given, on both sides; different directions at the same
// time, so that ranks that send to each other in one group cannot lock up. A send is done when its bytes lie in slots
// or, if the buffer is shared, when the receiver has read them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/engine/bound_call.h"
#include "core/engine/call_watch.h"
#include "core/engine/executor.h"
#include "core/engine/link_directory.h"
#include "core/engine/plan.h"

namespace ringtree {

struct Transfer {
  bool sends = true;  // else it receives
  int peer = 0;       // the rank itself is allowed: its k-th send meets its k-th receive of the same group
  Dtype dtype = Dtype::kFloat32;
  size_t count = 0;  // elements; alike on both sides, as is the dtype
  void* data = nullptr;

  /// "send of 8 float32 to rank 2"
  std::string to_string() const;
};

class PointToPoint {
 public:
  /// Who waits and how; of the communicator.
  struct Waiting {
    const WaitPolicy& policy;
    SpinBudget& budget;
    double timeout_s;
    InterruptCheck interrupted;
  };

  PointToPoint(Session& session, LinkDirectory& links, SharedRegions& shared, const Settings& settings)
      : session_(session), links_(links), shared_(shared), settings_(settings) {}

  /// Runs all transfers of a group; returns when this rank's part is done. Throws UsageError (nothing has happened) or
  /// what ended the communicator.
  void run(std::span<const Transfer> transfers, const Waiting& waiting);

 private:
  /// One direction between this rank and a peer.
  struct Way {
    int peer = 0;
    bool sends = true;
    uint64_t key = 0;       // of its plan
    uint64_t sequence = 0;  // transfers begun, alike at both ends
    std::shared_ptr<const Schedule> schedule;
    std::unique_ptr<Plan> plan;
    BoundCall call;
    RunPlace place;
    std::vector<const Transfer*> queue;  // of this group; those before `next` are done
    size_t next = 0;
    bool under_way = false;
  };
  class Group;

  void check(const Transfer& transfer) const;
  void copy_to_self(std::span<const Transfer> transfers) const;
  Way& way(const Transfer& transfer);
  void make_plan(Way& way, const std::function<bool()>& give_up);
  void begin(Way& way);

  Session& session_;
  LinkDirectory& links_;
  SharedRegions& shared_;
  const Settings& settings_;
  std::map<std::pair<int, bool>, Way> ways_;  // peer, sends
  std::vector<Way*> active_;                  // of the group that runs
};

}  // namespace ringtree
