// See waits.h.
#include "waits.h"

#include <algorithm>
#include <utility>

namespace ringtree_torch {

void TraceWaits::add(c10::intrusive_ptr<c10d::Work> work, int64_t number) {
  Entry forgotten;  // goes without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  if (entries_.size() >= kMost) {
    forgotten = std::move(entries_.front());
    entries_.pop_front();
  }
  entries_.push_back({std::move(work), number});
}

std::optional<int64_t> TraceWaits::take(const c10d::Work& work) {
  Entry found;  // as above
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.work.get() == &work; });
  if (at == entries_.end()) return std::nullopt;
  found = std::move(*at);
  entries_.erase(at);
  return found.number;
}

void TraceWaits::drop() {
  std::deque<Entry> forgotten;
  const std::lock_guard<std::mutex> lock(mutex_);
  forgotten.swap(entries_);
}

}  // namespace ringtree_torch
