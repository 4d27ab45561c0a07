// What a link looks like in shared memory. The sender owns it:
//
//   [8 lines] [reader 0: released, stamps] [reader 1: …] … [slot 0] … [slot 7]
//
// A *line* is a flag and up to 1,144 bytes of data behind it. A message of up to 56 bytes is one cache line that
// travels once; a longer one is up to 18 neighbours, which a core can fetch together (docs/decisions/0042, 0043).
// Larger messages lie in a slot that the flag names: a slot of the link's own (message m has slot m mod 8), or a slot
// of the pool that two ranks share who send to each other (exchange_pool.h); the link then has no slots itself.
//
// Counters only grow; message m uses line m mod 8. Each atomic has one writer. Nothing read from a peer is used as an
// index before it was checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/transport/atomics.h"

namespace ringtree {

inline constexpr int kMaxLinkSlots = 8;
inline constexpr size_t kLineBytes = 64;
inline constexpr size_t kInlineBytes = 18 * kLineBytes - sizeof(uint64_t);  // of a message that needs no slot

/// A flag says which message is in a line, of which call, and in which slot its data lie.
///   bits 0..31 fingerprint of the call   bits 32..47 slot + 1, 0 for data in the line   bits 48..63 message + 1
/// Bit 46 with a slot: it was written around the caches (docs/decisions/0034).
/// A message may also name a place in the sender's memory that its readers have mapped (shared_table.h): the line then
/// holds that place. Its reader may be allowed to write its result there; the message that brings the result then says
/// only that it is there. Where all readers are on other hosts it may lie anywhere in the sender's memory: who carries
/// it away asks the sending end where (tcp_link.h). 16 bits of the message's number tell it from the line's last one,
/// which was 8 lower.
struct MessageFlag {
  static constexpr int kNoSlot = -1;
  static constexpr int kStreamed = 0x4000;  // added to a slot
  static constexpr int kInPlace = 0xfffe;
  static constexpr int kInPlaceToAnswer = 0xfffd;  // in place, and the reader may write its result there
  static constexpr int kAnswer = 0xfffc;           // the result lies where the reader's own operand lay
  static constexpr int kInOwnMemory = 0xfffb;      // of the sender
  static constexpr int kPlaced = 0xfffa;           // in the reader's memory, where it belongs (placement.h)

  static uint64_t make(uint32_t fingerprint, int slot, uint64_t message) {
    return uint64_t{fingerprint} | static_cast<uint64_t>(slot + 1) << 32 | (message + 1) << 48;
  }
  static bool is_of(uint64_t flag, uint64_t message) { return flag >> 48 == ((message + 1) & 0xffff); }
  static uint32_t fingerprint(uint64_t flag) { return static_cast<uint32_t>(flag); }
  static int slot(uint64_t flag) {
    const int field = static_cast<int>(flag >> 32 & 0xffff);
    return (is_streamed(flag) ? field & ~kStreamed : field) - 1;
  }
  static bool is_streamed(uint64_t flag) { return (flag >> 46 & 3) == 1; }
};

template <class Policy>
struct alignas(kLineBytes) BasicLine {
  typename Policy::template Atomic<uint64_t> flag{0};
  std::array<std::byte, kInlineBytes> payload;
};

template <class Policy>
struct alignas(kLineBytes) BasicLinkReader {
  typename Policy::template Atomic<uint64_t> released{0};  // messages; written by this reader
  // Emulated clusters only: when slot s's message arrives at this reader, and when the reader freed it (ns,
  // CLOCK_MONOTONIC). Plain memory: each is written before the counter that publishes it and read after.
  alignas(kLineBytes) std::array<int64_t, kMaxLinkSlots> arrival_ns{};
  alignas(kLineBytes) std::array<int64_t, kMaxLinkSlots> release_ns{};
};

using Line = BasicLine<StdAtomics>;
using LinkReader = BasicLinkReader<StdAtomics>;
static_assert(sizeof(Line) == 18 * kLineBytes);

/// Geometry of a link's memory; both ends derive it from the same agreed numbers.
struct LinkGeometry {
  int num_readers = 1;
  int num_slots = kMaxLinkSlots;  // messages under way at most; a power of two
  size_t slot_bytes = 0;          // 0: the slots are those of an exchange pool

  uint64_t slot_mask() const { return static_cast<uint64_t>(num_slots) - 1; }
  size_t readers_at() const { return static_cast<size_t>(num_slots) * sizeof(Line); }
  size_t slots_at() const { return readers_at() + static_cast<size_t>(num_readers) * sizeof(LinkReader); }
  size_t bytes() const { return slots_at() + static_cast<size_t>(num_slots) * slot_bytes; }
};

/// Makes the objects of a zeroed link memory. Called once, by the sender, before any peer maps it.
void construct_link(std::byte* memory, const LinkGeometry& geometry);

}  // namespace ringtree
