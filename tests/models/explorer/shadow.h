// The plain memory of an explored program: who wrote and read each object last, so that an access that no
// happens-before edge excuses is a data race, and a read of what nobody wrote is named. The bytes themselves lie where
// they always lie; without a race, execution order agrees with happens-before and the bytes are the right ones.
//
// An object is what one access covers: all accesses of a place must have the same address and size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "tests/models/explorer/view.h"

namespace ringtree::explorer {

/// What is wrong with an access; `event` is the other access of a race.
struct ShadowVerdict {
  enum Kind : uint8_t { fine, races_with_write, races_with_read, never_written, other_extent } kind = fine;
  size_t event = 0;
};

class Shadow {
 public:
  void clear() { objects_.clear(); }

  /// Before the threads start: ordered before everything.
  void initialise(const void* address, size_t bytes);
  ShadowVerdict read(const void* address, size_t bytes, const Clock& clock, size_t thread, size_t event);
  /// `non_temporal`: others may see it only after the thread's next drain().
  ShadowVerdict write(const void* address, size_t bytes, const Clock& clock, size_t thread, size_t event,
                      bool non_temporal);
  /// A store fence: the thread's non-temporal stores so far count as done.
  static void drain(Clock& clock, size_t thread) { ++clock.at[Clock::non_temporal(thread)]; }

 private:
  struct Object {
    size_t bytes = 0;
    bool written = false;
    size_t writer = 0, write_entry = 0;  // thread, and entry of its clock
    uint32_t write_time = 0;             // 0: before the threads started
    size_t write_event = 0;
    Clock reads;  // when each thread read it last, 0 for never
    std::array<size_t, kMaxThreads> read_events{};
  };

  std::unordered_map<const void*, Object> objects_;
};

}  // namespace ringtree::explorer
