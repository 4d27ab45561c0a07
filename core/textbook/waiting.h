// Waiting for something that a peer writes into shared memory: spin for a while if asked to, then sleep, and look now
// and then whether to go on at all.
#pragma once

#include "core/base/pause_cpu.h"
#include "core/textbook/watch.h"
#include "core/transport/doorbell.h"

namespace ringtree::textbook {

/// True once `ready()`, which loads with sequential consistency (doorbell.h says why); false: stop, the watch knows
/// why. `peer` is whom it takes, `bell` what it rings then, `pauses` how long to spin.
template <class Ready>
bool wait_until(Watch& watch, int peer, Doorbell& bell, int pauses, const Ready& ready) {
  constexpr int64_t kLookNs = 20'000'000;
  for (int i = 0; i < pauses; ++i) {
    if (ready()) return true;
    pause_cpu();
  }
  for (;;) {
    const uint32_t ticket = bell.announce_sleep();
    if (ready()) {
      bell.cancel_sleep();
      return true;
    }
    bell.sleep(ticket, now_ns() + kLookNs);
    if (ready()) return true;
    if (watch.look(peer)) return false;
    if (watch.is_gone(peer)) {
      if (ready()) return true;  // it did its part before it left
      watch.fail_gone(peer);
      return false;
    }
  }
}

}  // namespace ringtree::textbook
