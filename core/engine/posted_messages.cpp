// See posted_messages.h.
#include "core/engine/posted_messages.h"

#include <utility>

#include "core/base/error.h"

namespace ringtree {

void PostedMessages::add(TaggedMessages message) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw UsageError("this communicator was closed; make a new one");
    messages_.splice(messages_.end(), message);
    any_.store(true, std::memory_order_seq_cst);  // before the look at the bell's sleeper; pairs with any()
  }
  tell();
}

void PostedMessages::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    any_.store(true, std::memory_order_seq_cst);  // as in add()
  }
  tell();
}

// The thread sleeps here while nothing is open, at the bell while something is.
void PostedMessages::tell() {
  changed_.notify_one();
  bell_.ring();
}

PostedMessages::Taken PostedMessages::take() {
  const std::lock_guard lock(mutex_);
  any_.store(false, std::memory_order_relaxed);  // what comes after the lock sets it anew
  return {std::exchange(messages_, {}), closed_};
}

bool PostedMessages::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !messages_.empty(); });
  return !messages_.empty();
}

}  // namespace ringtree
