// See inbox.h.
#include "core/textbook/inbox.h"

#include <chrono>
#include <utility>

namespace ringtree::textbook {

void Inbox::add(int peer, Announcement announcement) {
  {
    const std::lock_guard lock(mutex_);
    from_[static_cast<size_t>(peer)].push_back(std::move(announcement));
  }
  changed_.notify_all();
}

Announcement Inbox::take(int peer, Watch& watch) {
  std::deque<Announcement>& from = from_[static_cast<size_t>(peer)];
  std::unique_lock lock(mutex_);
  while (from.empty()) {
    lock.unlock();
    // Before the next look at the inbox: what the peer announced before it left has been added by then.
    const bool gone = watch.is_gone(peer);
    const bool stop = watch.look(peer);
    lock.lock();
    if (!from.empty()) break;
    if (gone || stop) {
      lock.unlock();
      if (!stop) watch.fail_gone(peer);
      watch.raise();
    }
    changed_.wait_for(lock, std::chrono::milliseconds(5));
  }
  Announcement announcement = std::move(from.front());
  from.pop_front();
  return announcement;
}

}  // namespace ringtree::textbook
