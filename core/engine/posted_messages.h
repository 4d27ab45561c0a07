// PostedMessages: where messages wait, from when any thread posts them until the mailbox's thread takes them. The other
// half of a mailbox, what that thread does with them: message_traffic.h.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "core/engine/tagged_message.h"
#include "core/transport/doorbell.h"

namespace ringtree {

class PostedMessages {
 public:
  /// `bell`: wakes the mailbox's thread where it waits for peers.
  explicit PostedMessages(Doorbell& bell) : bell_(bell) {}

  /// Adds one message. From any thread. UsageError: closed.
  void add(TaggedMessages message);
  /// From now on nothing can be added. From any thread.
  void close();

  // The mailbox's thread's.

  /// Something is there to take(). Cheap. seq_cst, pairs with the stores in add() and close(): a look after
  /// Doorbell::announce_sleep() is not taken before the announcement.
  bool any() const { return any_.load(std::memory_order_seq_cst); }
  struct Taken {
    TaggedMessages messages;
    bool closed = false;  // they are the last
  };
  Taken take();
  /// Sleeps until there are messages. False: there are none and never will be.
  bool wait();

 private:
  void tell();

  Doorbell& bell_;
  std::mutex mutex_;  // protects messages_, closed_
  std::condition_variable changed_;
  TaggedMessages messages_;
  bool closed_ = false;
  std::atomic<bool> any_{false};
};

}  // namespace ringtree
