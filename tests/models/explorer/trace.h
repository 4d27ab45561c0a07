// What happened in one execution, so that a failure can be read: one line an operation, in the order in which they were
// executed, with who stored what a load returned and how many newer stores it did not see.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ringtree::explorer {

enum class EventKind : uint8_t {
  load,
  store,
  update,
  failed_update,
  fence,
  fence_of_other,
  store_fence,
  read,
  write,
  stream_write,
  sleep,
  no_sleep,
  wake,
  wait,
};

struct Event {
  size_t thread = 0;
  EventKind kind = EventKind::load;
  const void* address = nullptr;
  size_t bytes = 0;
  std::memory_order order = std::memory_order_relaxed;
  uint64_t value = 0;     // read or stored; of fence_of_other the thread, of wake how many
  size_t from = 0;        // the event that stored what was read, 0 for the initial value
  size_t num_unseen = 0;  // newer stores that exist
};

/// A piece of the program's memory that has a name.
struct Region {
  const std::byte* begin = nullptr;
  size_t bytes = 0;
  std::string name;

  bool contains(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return at >= begin && at < begin + bytes;
  }
};

class Trace {
 public:
  void clear() { events_.clear(); }
  /// Returns the event's number, from 1.
  size_t add(const Event& event) {
    events_.push_back(event);
    return events_.size();
  }
  size_t next() const { return events_.size() + 1; }

  /// One line an event, with the names of the threads and of the memory.
  std::string text(const std::vector<std::string>& threads, const std::vector<Region>& regions) const;

 private:
  std::vector<Event> events_;
};

/// `name` or `name+offset`; the address where nothing has a name.
std::string name_of(const void* address, const std::vector<Region>& regions);

}  // namespace ringtree::explorer
