// See call_gate.h.
#include "core/engine/call_gate.h"

#include "core/transport/fence.h"

namespace ringtree {

void CallGate::refuse_call() const {
  if (has_messages_.load(std::memory_order_relaxed))
    throw UsageError("this communicator exchanges messages: make another one for collectives and transfers");
  throw UsageError("two threads call collectives on one communicator at the same time; give each its own");
}

void CallGate::refuse_closed() {
  in_call_.store(false, std::memory_order_relaxed);
  throw UsageError("this communicator was closed; make a new one");
}

Mailbox& CallGate::mailbox(const TransferWay::Parts& parts, const WaitPolicy& policy, bool calls_wait) {
  const std::lock_guard lock(mutex_);
  if (mailbox_) return *mailbox_;
  if (messages_refused_) throw UsageError("this communicator was closed; make a new one");
  // acquire, pairs with the release in leave(): the mailbox sees what calls left in the links.
  if (calls_wait || in_call_.exchange(true, std::memory_order_acquire))
    throw UsageError("this communicator is in a call: make another one for messages");
  try {
    mailbox_ = std::make_unique<Mailbox>(parts, policy);
  } catch (...) {
    leave();
    throw;
  }
  has_messages_.store(true, std::memory_order_relaxed);
  return *mailbox_;
}

void CallGate::refuse_messages() {
  const std::lock_guard lock(mutex_);
  if (mailbox_ && mailbox_->is_own_thread())
    throw UsageError("a completion callback cannot close its communicator: close it from another thread");
  messages_refused_ = true;
}

// After refuse_messages() nobody makes a mailbox: it can be read without the lock, which posters take.
void CallGate::close_mailbox() {
  if (mailbox_ && mailbox_->close()) leave();
}

bool CallGate::close() {
  // Pairs with enter(): either the call sees that the communicator is closed, or we see that it is in a call.
  closed_.store(true, std::memory_order_seq_cst);
  if (!fenced_) fence_everybody();
  return !in_call_.exchange(true, std::memory_order_seq_cst);
}

}  // namespace ringtree
