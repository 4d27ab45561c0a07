// Messages from another host that are received straight to where they belong, instead of into a slot from where they
// would be copied there. Whoever carries them (tcp_link.h) asks when the first bytes of one are there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/transport/link_memory.h"

namespace ringtree {

/// Knows where the messages of a link belong before they have come.
class Placer {
 public:
  virtual ~Placer() = default;
  /// Where message `number` of the link, of `bytes` bytes, is to be received; null: into a slot, as always. Nobody else
  /// may read or write there until the message is consumed.
  virtual std::byte* place_for(uint64_t number, size_t bytes, uint32_t fingerprint) = 0;
};

/// A link's messages that were placed. Used by the thread that runs the rank's calls.
class Placement {
 public:
  virtual ~Placement() = default;
  /// From now on `placer` is asked; null: nobody, and nothing more is written to places that one gave. Messages that
  /// are whole stay there.
  virtual void ask(Placer* placer) = 0;
  /// Of the message in line `at`, which was placed.
  const std::byte* place(size_t at) const { return places_[at]; }

 protected:
  std::array<std::byte*, kMaxLinkSlots> places_{};  // null: in its slot
};

}  // namespace ringtree
