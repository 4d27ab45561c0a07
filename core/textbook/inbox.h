// What peers announce while a group is made or gets ready for a call: ports, mailboxes. In order of arrival, by peer.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/textbook/watch.h"

namespace ringtree::textbook {

struct Announcement {
  std::string payload;
  Fd descriptor;  // not valid if none came
};

class Inbox {
 public:
  explicit Inbox(int world_size) : from_(static_cast<size_t>(world_size)) {}

  /// Called by the mesh's monitor thread.
  void add(int peer, Announcement announcement);

  /// The next one of `peer`, waited for. Throws what stops the watch.
  Announcement take(int peer, Watch& watch);

 private:
  std::mutex mutex_;  // protects from_
  std::condition_variable changed_;
  std::vector<std::deque<Announcement>> from_;
};

}  // namespace ringtree::textbook
