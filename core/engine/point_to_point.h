// send and recv: messages between two ranks, any number of them at once, each direction over a TransferWay. Not here:
// messages with tags, which nobody waits for (mailbox.h).
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

#include "core/engine/call_watch.h"
#include "core/engine/executor.h"
#include "core/engine/transfer_way.h"

namespace ringtree {

class PointToPoint {
 public:
  /// Who waits and how; of the communicator.
  struct Waiting {
    const WaitPolicy& policy;
    SpinBudget& budget;
    double timeout_s;
    InterruptCheck interrupted;
  };

  explicit PointToPoint(const TransferWay::Parts& parts) : parts_(parts), session_(parts.session) {}

  /// Runs all transfers of a group; returns when this rank's part is done. The rank itself is allowed as a peer: its
  /// k-th send meets its k-th receive of the same group. Throws UsageError (nothing has happened) or what ended the
  /// communicator.
  void run(std::span<const Transfer> transfers, const Waiting& waiting);

 private:
  struct Way : TransferWay {
    using TransferWay::TransferWay;
    std::vector<const Transfer*> queue;  // of this group; those before `next` are done
    size_t next = 0;
  };
  class Group;

  void check(const Transfer& transfer) const;
  void copy_to_self(std::span<const Transfer> transfers) const;
  Way& way(const Transfer& transfer);

  const TransferWay::Parts parts_;
  Session& session_;
  std::map<std::pair<int, bool>, Way> ways_;  // peer, sends
  std::vector<Way*> active_;                  // of the group that runs
};

}  // namespace ringtree
