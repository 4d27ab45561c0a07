// Whether a peer's core is near ours (they share a cache) or far, by how long a line takes to get here that the peer
// has just written. Looked at again and again while data flow: a host moves virtual cores within minutes, a kernel
// threads that are not pinned.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/base/clock.h"

namespace ringtree {

class Distance {
 public:
  /// Between 15 to 65 ns near and 115 to 175 far (AMD EPYC, 2 virtual cores, 2026-11-27; measured with the clock's 25,
  /// which are subtracted here).
  static constexpr int64_t kFarNs = 95;

  /// A load that found something new took so long.
  void add(int64_t ns) {
    slow_ = static_cast<uint8_t>(slow_ << 1 | (ns >= kFarNs ? 1 : 0));
    ++num_looks_;
  }
  /// Such a load began at `begin_ns` and has just ended.
  void add_since(int64_t begin_ns) { add(now_ns() - begin_ns - clock_ns()); }
  /// Most of the last eight loads were slow: one that an interrupt made slow does not count. Near until known.
  bool is_far() const { return std::popcount(slow_) > 4; }
  uint64_t num_looks() const { return num_looks_; }

 private:
  // What reading the clock takes: 25 ns, but a system call where the kernel's clock cannot be read without one.
  static int64_t clock_ns() {
    static const int64_t least = [] {
      int64_t ns = INT64_MAX;
      for (int i = 0; i < 16; ++i) {
        const int64_t begin_ns = now_ns();
        ns = std::min(ns, now_ns() - begin_ns);
      }
      return ns;
    }();
    return least;
  }

  uint8_t slow_ = 0;  // a bit for each load, the last one lowest
  uint64_t num_looks_ = 0;
};

}  // namespace ringtree
