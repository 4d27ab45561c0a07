// TaggedMessage: one end of a message with a tag, as it is posted to a mailbox, and what travels before its bytes. What
// is done with it: mailbox.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <string>

#include "core/base/clock.h"

namespace ringtree {

/// As the peer of a receive: whoever sends first.
inline constexpr int kAnySource = -1;

struct TaggedMessage {
  /// Called once, on the mailbox's thread and without locks: null, or what the message ended with. `source`: the rank
  /// that sent it; of a receive that failed, the one that was asked for. May post again. Must not throw, and must not
  /// close the communicator.
  using Done = std::function<void(int source, const std::exception_ptr& error)>;

  bool sends = true;  // else it receives
  int peer = 0;       // of a receive: may be kAnySource
  int tag = 0;
  std::byte* data = nullptr;  // lives until done; what sends only reads
  size_t bytes = 0;           // alike at both ends
  double timeout_s = 0;       // from when it is posted
  Done done;
  // The mailbox's.
  Deadline deadline;
  int source = 0;
  std::exception_ptr error;

  bool could_be_from(int rank) const { return peer == rank || peer == kAnySource; }
  /// "recv of 64 bytes with tag 3 from rank 1"
  std::string to_string() const;
};

/// Handed on by splicing, so that a message stays where it is from when it is posted until it is done.
using TaggedMessages = std::list<TaggedMessage>;

/// What each message begins with on its way. Followed by room for the bytes of a small message, so that one slot
/// carries all of it; always of one size, as a receiver must know how much comes.
struct MessageHeader {
  static constexpr uint32_t kMark = 0x7474726d;
  static constexpr size_t kRoom = 496;

  uint64_t bytes = 0;
  int32_t tag = 0;
  uint32_t mark = kMark;
  std::byte payload[kRoom] = {};

  bool holds_payload() const { return bytes <= kRoom; }
};
static_assert(sizeof(MessageHeader) == 512, "without gaps, and alike for every compiler");

}  // namespace ringtree
