// Helper of tests: zeroed memory aligned like shared memory, and the sleep of a rank that waits for a link. Nothing of
// links themselves.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "core/base/clock.h"
#include "core/transport/doorbell.h"
#include "core/transport/link_memory.h"

namespace ringtree::testing {

struct FreeAligned {
  void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kLineBytes}); }
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeAligned>;

/// `bytes` zeroed bytes that begin on a cache line.
inline AlignedBytes aligned_bytes(size_t bytes) {
  return AlignedBytes(new (std::align_val_t{kLineBytes}) std::byte[bytes]());
}

/// Sleeps as a rank does while `ready` is false; false if it takes longer than any machine needs. `fenced`: of the
/// links that `ready` looks at.
template <typename Ready>
bool sleep_until(Doorbell& bell, bool fenced, const Ready& ready) {
  const int64_t deadline_ns = now_ns() + 120'000'000'000;
  while (!ready()) {
    const uint32_t ticket = bell.announce_sleep(fenced);
    if (ready()) {
      bell.cancel_sleep();
      return true;
    }
    bell.sleep(ticket, deadline_ns);
    if (now_ns() >= deadline_ns) return false;
  }
  return true;
}

}  // namespace ringtree::testing
