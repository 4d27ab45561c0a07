// Whether a peer's core is near ours (they share a cache) or far, by how long a line takes to get here that the peer
// has just written. Looked at again and again while data flow: a host moves virtual cores within minutes, a kernel
// threads that are not pinned.
#pragma once

#include <bit>
#include <cstdint>

namespace ringtree {

class Distance {
 public:
  /// Between 40 to 90 ns near and 140 to 200 far (AMD EPYC, 2 virtual cores, 2026-11-27).
  static constexpr int64_t kFarNs = 120;

  /// A load that found something new took so long, the clock included.
  void add(int64_t ns) { slow_ = static_cast<uint8_t>(slow_ << 1 | (ns >= kFarNs ? 1 : 0)); }
  /// Most of the last eight loads were slow: one that an interrupt made slow does not count. Near until known.
  bool is_far() const { return std::popcount(slow_) > 4; }

 private:
  uint8_t slow_ = 0;  // a bit for each load, the last one lowest
};

}  // namespace ringtree
