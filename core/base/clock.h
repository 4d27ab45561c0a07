// One clock for deadlines, arrival stamps and timing: CLOCK_MONOTONIC in nanoseconds, the same on every process of a
// host.
#pragma once

#include <time.h>

#include <cstdint>

namespace ringtree {

inline int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// An absolute time after which a wait gives up. Every wait of the library takes one.
struct Deadline {
  int64_t at_ns = INT64_MAX;
  static Deadline after_seconds(double seconds) { return {now_ns() + static_cast<int64_t>(seconds * 1e9)}; }
  bool passed() const { return now_ns() >= at_ns; }
  int64_t left_ns() const { return at_ns > now_ns() ? at_ns - now_ns() : 0; }
};

}  // namespace ringtree
