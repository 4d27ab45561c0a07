// The network card of an emulated host: one a host, for what it sends; every rank and link of the host shares it. A
// card that is busy lets messages wait and serves the ranks of its host in turn, as core/model/recurrence.h states it.
// It hands out stamps, it moves nothing: docs/decisions/0006 says why stamps and not sleeps.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringtree {

inline constexpr int kMaxRanksPerEmulatedHost = 64;

/// In shared memory, one a host. All accesses are relaxed: they order nothing but turns; the stamps that come of them
/// are published with the messages.
struct alignas(64) NicClock {
  struct Turn {
    std::atomic<int64_t> served_ns{-1};  // when the card last took a message of this rank
    std::atomic<uint32_t> waiting{0};
  };
  std::atomic<int64_t> busy_until_ns{0};
  std::array<Turn, kMaxRanksPerEmulatedHost> turns;
};

class Nic {
 public:
  Nic() = default;  // of links that are not slowed
  /// `place`: of this rank among the `num_places` ranks of its host.
  Nic(NicClock* clock, int place, int num_places, double alpha_s, double beta_Bps)
      : clock_(clock),
        place_(place),
        num_places_(num_places),
        alpha_ns_(static_cast<int64_t>(alpha_s * 1e9)),
        ns_per_byte_(1e9 / beta_Bps) {}

  bool shaped() const { return clock_ != nullptr; }

  struct Grant {
    bool taken = false;
    int64_t start_ns = 0;       // if taken: when the card begins to transmit
    int64_t look_again_ns = 0;  // else: when to ask again
  };
  /// Asks the card to take a message of `bytes` for `num_readers` readers, ready since `ready_ns`.
  Grant take(size_t bytes, int num_readers, int64_t ready_ns, int64_t now_ns) const {
    NicClock::Turn& own = clock_->turns[static_cast<size_t>(place_)];
    int64_t busy = clock_->busy_until_ns.load(std::memory_order_relaxed);
    if (busy > now_ns) return wait(own, busy);
    if (others_turn(own)) return wait(own, now_ns + kAskAgainNs);
    // The stamp goes on from where the card became free, not from when this thread got to run.
    const int64_t start = std::max(busy, ready_ns);
    if (!clock_->busy_until_ns.compare_exchange_strong(busy, start + num_readers * duration_ns(bytes),
                                                       std::memory_order_relaxed))
      return wait(own, now_ns + kAskAgainNs);
    own.served_ns.store(start, std::memory_order_relaxed);
    own.waiting.store(0, std::memory_order_relaxed);
    return {true, start, 0};
  }
  /// When the `index`-th transmission of a message that the card began to send at `start_ns` arrives.
  int64_t arrival_ns(int64_t start_ns, size_t bytes, int index) const {
    return start_ns + (index + 1) * duration_ns(bytes) + alpha_ns_;
  }

 private:
  static constexpr int64_t kAskAgainNs = 50'000;  // somebody else goes first and will be quick about it

  int64_t duration_ns(size_t bytes) const { return static_cast<int64_t>(static_cast<double>(bytes) * ns_per_byte_); }

  static Grant wait(NicClock::Turn& own, int64_t look_again_ns) {
    own.waiting.store(1, std::memory_order_relaxed);
    return {false, 0, look_again_ns};
  }

  bool others_turn(const NicClock::Turn& own) const {
    const int64_t own_served = own.served_ns.load(std::memory_order_relaxed);
    for (int place = 0; place < num_places_; ++place) {
      const NicClock::Turn& other = clock_->turns[static_cast<size_t>(place)];
      if (place == place_ || other.waiting.load(std::memory_order_relaxed) == 0) continue;
      const int64_t served = other.served_ns.load(std::memory_order_relaxed);
      if (served < own_served || (served == own_served && place < place_)) return true;
    }
    return false;
  }

  NicClock* clock_ = nullptr;
  int place_ = 0, num_places_ = 1;
  int64_t alpha_ns_ = 0;
  double ns_per_byte_ = 0;
};

}  // namespace ringtree
