// The store in one process, and the reference for what every other store must do (the tests run the same cases on all).
// Not for ranks in several processes.
#include "core/bootstrap/thread_store.h"

#include <algorithm>
#include <chrono>

#include "core/base/error.h"

namespace ringtree {
namespace {

// A wait is cut into slices, so that a far deadline cannot overflow the clock's time point.
constexpr int64_t kSliceNs = 100'000'000;

}  // namespace

void ThreadStore::set(const std::string& key, const std::string& value) {
  check_store_key(key);
  check_store_value(key, value);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_[key] = value;
  }
  changed_.notify_all();
}

std::string ThreadStore::get(const std::string& key, Deadline deadline) {
  check_store_key(key);
  const int64_t start_ns = now_ns();
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    const auto found = values_.find(key);
    if (found != values_.end()) return found->second;
    const int64_t left_ns = deadline.at_ns - now_ns();
    if (left_ns <= 0) throw TimeoutError(store_timeout_text(key, start_ns));
    changed_.wait_for(lock, std::chrono::nanoseconds(std::min(left_ns, kSliceNs)));
  }
}

}  // namespace ringtree
