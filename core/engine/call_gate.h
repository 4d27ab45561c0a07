// CallGate: who may use a communicator. One thread at a time with calls; or, from the first message on, its mailbox,
// which a call would disturb; nobody once it is closed. Not for what they then do.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "core/base/error.h"
#include "core/engine/mailbox.h"

namespace ringtree {

class CallGate {
 public:
  /// Before the first call. `fenced`: how links publish; where they are not, close() fences all threads instead.
  void set_fenced(bool fenced) { fenced_ = fenced; }

  /// Says that a call is under way. Throws UsageError: another one is, messages are exchanged, or it was closed. Where
  /// links are not fenced neither is this: an exchange would wait until what the call before published has become
  /// visible, which takes longer than a small call. Two threads that call at the very same moment are then not always
  /// told that they must not.
  void enter() {
    // acquire, pairs with the release in leave(): whatever thread calls next sees what that call left in the plans.
    if (in_call_.load(std::memory_order_acquire) && !closed_.load(std::memory_order_relaxed)) refuse_call();
    if (fenced_) {
      in_call_.store(true, std::memory_order_seq_cst);  // before the look at closed_; pairs with close()
    } else {
      in_call_.store(true, std::memory_order_relaxed);  // close() fences all threads
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    if (closed_.load(std::memory_order_seq_cst)) refuse_closed();
  }
  void leave() { in_call_.store(false, std::memory_order_release); }  // pairs with the load in enter()

  /// Opened by the first message, and stays busy until closed. `calls_wait`: some were started. UsageError: a call is
  /// under way, or it was closed.
  Mailbox& mailbox(const TransferWay::Parts& parts, const WaitPolicy& policy, bool calls_wait);

  /// From now on there is no first message. UsageError: on the mailbox's own thread, which cannot wait for its end.
  void refuse_messages();
  /// Brings what was posted to its end. One thread at a time.
  void close_mailbox();
  /// No call begins any more. True if none was under way; then nobody else is in until leave().
  bool close();
  /// In a child made by fork() the mailbox's thread, which may wait for its condition variable, is the parent's.
  void abandon_mailbox() { [[maybe_unused]] Mailbox* const leaked = mailbox_.release(); }

 private:
  [[noreturn]] void refuse_call() const;
  [[noreturn]] void refuse_closed();

  bool fenced_ = true;
  std::atomic<bool> in_call_{false}, closed_{false};
  std::atomic<bool> has_messages_{false};  // for the text of an error
  std::mutex mutex_;                       // protects mailbox_, messages_refused_
  bool messages_refused_ = false;
  std::unique_ptr<Mailbox> mailbox_;  // null before the first message; holds in_call_ until it is closed
};

}  // namespace ringtree
