// Messages with tags, and that a communicator either has them or makes calls. See communicator.h.
#include <utility>

#include "core/base/fork_count.h"
#include "core/engine/communicator.h"

namespace ringtree {

void Communicator::post_send(int peer, int tag, const void* data, size_t bytes, double timeout_s,
                             TaggedMessage::Done done) {
  TaggedMessage message;
  message.peer = peer;
  message.tag = tag;
  message.data = static_cast<std::byte*>(const_cast<void*>(data));  // what sends does not write
  message.bytes = bytes;
  message.timeout_s = timeout_s;
  message.done = std::move(done);
  mailbox().post(std::move(message));
}

void Communicator::post_recv(int peer, int tag, void* data, size_t bytes, double timeout_s, TaggedMessage::Done done) {
  TaggedMessage message;
  message.sends = false;
  message.peer = peer;
  message.tag = tag;
  message.data = static_cast<std::byte*>(data);
  message.bytes = bytes;
  message.timeout_s = timeout_s;
  message.done = std::move(done);
  mailbox().post(std::move(message));
}

// Made by the first message, and from then on in a call for good, as it were.
Mailbox& Communicator::mailbox() {
  check_fork();
  const std::lock_guard lock(mailbox_mutex_);
  if (mailbox_) return *mailbox_;
  if (mailbox_refused_) throw UsageError("this communicator was closed; make a new one");
  // acquire, pairs with the release at the end of a call (run_alone()): the mailbox sees what calls left in the links.
  if (!queue_.idle() || in_call_.exchange(true, std::memory_order_acquire))
    throw UsageError("this communicator is in a call: make another one for messages");
  try {
    mailbox_ = std::make_unique<Mailbox>(TransferWay::Parts{*session_, links_, shared_, settings_}, policy_);
  } catch (...) {
    in_call_.store(false, std::memory_order_release);  // pairs with the load in enter()
    throw;
  }
  has_messages_.store(true, std::memory_order_relaxed);
  return *mailbox_;
}

void Communicator::refuse_call() const {
  if (has_messages_.load(std::memory_order_relaxed))
    throw UsageError("this communicator exchanges messages: make another one for collectives and transfers");
  throw UsageError("two threads call collectives on one communicator at the same time; give each its own");
}

Mailbox* Communicator::refuse_messages() {
  const std::lock_guard lock(mailbox_mutex_);
  if (mailbox_ && mailbox_->is_own_thread())
    throw UsageError("a communicator cannot be closed by who is told that a message is done: let another thread do it");
  mailbox_refused_ = true;
  return mailbox_.get();
}

}  // namespace ringtree
