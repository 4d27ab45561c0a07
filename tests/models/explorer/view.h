// What a thread of an explored program has seen: per atomic location the oldest message that it may still read, and a
// vector clock for plain memory. Messages carry the view of the store that made them; acquiring joins it.
//
// The view of locations is larger than the clock: a seq_cst fence orders locations between threads without making a
// happens-before edge, and only such an edge excuses a plain access (see memory.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace ringtree::explorer {

inline constexpr size_t kMaxThreads = 4;
inline constexpr size_t kMaxLocations = 64;

using LocationId = uint16_t;
using MessageId = uint16_t;  // within its location; 0 is the initial value

/// Vector clock with two entries a thread: its ordinary stores, and its non-temporal ones, which count only once a
/// store fence has drained them.
struct Clock {
  std::array<uint32_t, 2 * kMaxThreads> at{};

  static size_t ordinary(size_t thread) { return 2 * thread; }
  static size_t non_temporal(size_t thread) { return 2 * thread + 1; }

  void join(const Clock& other) {
    for (size_t i = 0; i < at.size(); ++i) at[i] = std::max(at[i], other.at[i]);
  }
};

struct View {
  std::array<MessageId, kMaxLocations> seen{};
  Clock clock;
};

/// The three views of a thread, as in promising semantics without promises.
struct ThreadViews {
  View current;   // what its next access may rely on
  View acquired;  // what an acquire fence would add: the views of messages read without acquire
  View released;  // what a store without release carries: the current view at the last release fence
};

}  // namespace ringtree::explorer
