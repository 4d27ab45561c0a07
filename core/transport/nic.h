// The network card of an emulated host: one a host, for what it sends; every rank and link of the host shares it. It
// turns bytes and the time at which they are ready into the time at which they arrive on another host.
// docs/decisions/0006 says why stamps, not sleeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringtree {

/// In shared memory, one a host.
struct alignas(64) NicClock {
  std::atomic<int64_t> busy_until_ns{0};
};

class Nic {
 public:
  Nic() = default;  // links that are not slowed
  Nic(NicClock* clock, double alpha_s, double beta_Bps)
      : clock_(clock), alpha_ns_(static_cast<int64_t>(alpha_s * 1e9)), ns_per_byte_(1e9 / beta_Bps) {}

  bool shaped() const { return clock_ != nullptr; }

  /// When a message of `bytes`, ready at `ready_ns`, arrives: it leaves when the card is free, takes bytes/beta, then
  /// alpha.
  int64_t transmit(size_t bytes, int64_t ready_ns) const {
    const int64_t duration = static_cast<int64_t>(static_cast<double>(bytes) * ns_per_byte_);
    // relaxed: the clock orders nothing but itself; the stamp made from it is published with the message.
    int64_t busy = clock_->busy_until_ns.load(std::memory_order_relaxed), done;
    do {
      done = std::max(busy, ready_ns) + duration;
    } while (!clock_->busy_until_ns.compare_exchange_weak(busy, done, std::memory_order_relaxed));
    return done + alpha_ns_;
  }

 private:
  NicClock* clock_ = nullptr;
  int64_t alpha_ns_ = 0;
  double ns_per_byte_ = 0;
};

}  // namespace ringtree
