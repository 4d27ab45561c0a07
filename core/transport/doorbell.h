// How a rank sleeps and is woken: one futex word a rank, rung by any peer that published or freed a slot for it. A rank
// that also waits for sockets sleeps in the kernel's poll instead: its bell has the name of a socket of its own, and
// who wakes it sends a datagram there.
//
// The handshake is Dekker's: the ringer publishes, then looks whether the owner sleeps; the owner says that it sleeps,
// then looks once more for what was published. At least one of the two must see the other. On fenced links (link.h) all
// four accesses are sequentially consistent. On others the ringer's two are not ordered, and the owner fences all
// threads between its two: the ringer's publication is before that fence, and the owner sees it, or its look at the
// bell is after, and it sees that the owner sleeps.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/fd.h"
#include "core/transport/fence.h"

namespace ringtree {

class Doorbell {
 public:
  /// Called by a peer after it published. Enters the kernel only if the owner sleeps.
  void ring() {
    // seq_cst, pairs with the seq_cst store in announce_sleep().
    if (sleeping_.load(std::memory_order_seq_cst) != 0) wake();
  }

  /// The owner is about to sleep. Returns the ticket for sleep(); between the two it must poll everything once more.
  /// `fenced`: whether the links that it waits for are.
  uint32_t announce_sleep(bool fenced = true) {
    const uint32_t ticket = bell_.load(std::memory_order_acquire);  // pairs with the release in wake()
    sleeping_.store(1, std::memory_order_seq_cst);                  // pairs with the seq_cst load in ring()
    if (!fenced) fence_everybody();
    return ticket;
  }
  /// The poll found something: no sleep.
  void cancel_sleep() { sleeping_.store(0, std::memory_order_relaxed); }

  /// Sleeps until rung after announce_sleep() or until the absolute time `until_ns` (CLOCK_MONOTONIC); spurious returns
  /// are allowed.
  void sleep(uint32_t ticket, int64_t until_ns);

  /// Wakes the owner unconditionally (abort).
  void wake();

  /// From now on the owner sleeps in a poll: returns the non-blocking socket that then becomes readable. It is for the
  /// owner to read, once it has woken, until nothing is left. Peers must share its network namespace. Throws
  /// WorldError.
  Fd make_pollable();

 private:
  std::atomic<uint32_t> bell_{0};
  std::atomic<uint32_t> sleeping_{0};
  std::atomic<uint64_t> name_{0};  // of the owner's socket; 0: none
};

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4,
              "the futex word must be a plain 32-bit word");

/// Asks the kernel for exact timer wake-ups on this thread (the default lets them slip by 50 µs). Emulated links need
/// it.
void use_exact_timers();

}  // namespace ringtree
