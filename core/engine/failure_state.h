// FailureState: the one failure that ends a communicator: the first wins, whichever thread finds it, and its words
// stay. Not for telling the peers, nor for waking who waits: the session's.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "core/engine/failure.h"

namespace ringtree {

class FailureState {
 public:
  bool failed() const { return failed_.load(std::memory_order_acquire); }  // pairs with the release in set()
  /// Meaningful once failed().
  Failure get() const {
    const std::lock_guard lock(mutex_);
    return failure_.value_or(Failure{});
  }
  /// True if it is the first.
  bool set(Failure failure) {
    const std::lock_guard lock(mutex_);
    if (failure_) return false;
    failure_ = std::move(failure);
    failed_.store(true, std::memory_order_release);  // pairs with the acquire in failed()
    return true;
  }
  /// True once: for who is to tell the peers. Relaxed: only who is first matters.
  bool begin_telling() { return !told_.exchange(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> failed_{false}, told_{false};
  mutable std::mutex mutex_;  // protects failure_
  std::optional<Failure> failure_;
};

}  // namespace ringtree
