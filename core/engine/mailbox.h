// Mailbox: tagged messages between ranks. Whoever posts a send or a receive goes on at once; a thread of the mailbox
// moves all of them at the same time and tells each poster how its message ended. Not for transfers that somebody waits
// for (point_to_point.h). What is posted: tagged_message.h; how it moves: message_traffic.h.
//
// A communicator whose ranks exchange messages makes no other calls, and the other way round: a rank has one doorbell
// and one port, at which one thread can wait.
#pragma once

#include <atomic>
#include <thread>

#include "core/engine/message_traffic.h"
#include "core/engine/posted_messages.h"
#include "core/engine/wait_policy.h"

namespace ringtree {

class Mailbox {
 public:
  /// Starts the thread. WorldError: there is none left.
  Mailbox(const TransferWay::Parts& parts, const WaitPolicy& policy);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  /// Closes it. Not in a child that fork() made: the thread is the parent's, and nobody can join it there.
  ~Mailbox();

  /// From any thread. Throws UsageError, and `done` is then not called: closed, or what it asks for cannot be.
  void post(TaggedMessage message);

  /// Brings sends to their end, ends receives, then the thread. One at a time, and not on the mailbox's thread. False:
  /// it was closed before.
  bool close();
  /// True while a poster is told how its message ended.
  bool is_own_thread() const { return std::this_thread::get_id() == thread_id_.load(std::memory_order_relaxed); }

 private:
  void run();
  void check(const TaggedMessage& message) const;

  const TransferWay::Parts parts_;
  const WaitPolicy policy_;
  PostedMessages posted_;
  MessageTraffic traffic_;                    // the thread's
  std::atomic<std::thread::id> thread_id_{};  // none once it has ended: the system gives ids out again
  std::thread thread_;
};

}  // namespace ringtree
