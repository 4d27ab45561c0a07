// The ll protocol: a message is a run of 8-byte words, each 4 bytes of data and a 4-byte flag, stored at once. Half of
// what travels is flags. The first word carries the call's fingerprint. After NCCL's LL.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/protocol/protocol.h"
#include "core/transport/link.h"

namespace ringtree::ll {

using Word = std::atomic<uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

inline constexpr size_t kWordData = 4;

inline uint32_t flag_of(const FlaggedMessage& message) { return static_cast<uint32_t>(message.number + 1); }
inline size_t num_words(size_t bytes) { return 1 + (bytes + kWordData - 1) / kWordData; }

/// Flags have 32 bits, so a word that no message has reached for 2^32 messages could look new. Now and then all words
/// of a slot are written: every 2^24 times that it is used, long before.
inline bool cleans(const FlaggedMessage& message) { return message.number / kMaxLinkSlots % (1u << 24) == 0; }

/// Writes `bytes` bytes into a slot of `slot_bytes`.
inline void pack(std::byte* slot, size_t slot_bytes, const std::byte* data, size_t bytes,
                 const FlaggedMessage& message) {
  Word* const words = reinterpret_cast<Word*>(slot);
  const uint64_t flag = uint64_t{flag_of(message)} << 32;
  // release, pairs with the load in arrived(): whoever sees a late word sees the early ones, although each stands for
  // itself. seq_cst on a fenced link: the last one also comes before the look at the reader's bell.
  if (cleans(message))
    for (size_t i = num_words(bytes); i < slot_bytes / sizeof(Word); ++i)
      words[i].store(flag, std::memory_order_relaxed);
  publish_in(words[0], flag | message.fingerprint, message.fenced);
  const size_t whole = bytes / kWordData;
  for (size_t i = 0; i < whole; ++i) {
    uint32_t item;
    std::memcpy(&item, data + i * kWordData, sizeof item);
    publish_in(words[i + 1], flag | item, message.fenced);
  }
  if (const size_t rest = bytes % kWordData; rest > 0) {
    uint32_t item = 0;
    std::memcpy(&item, data + whole * kWordData, rest);
    publish_in(words[whole + 1], flag | item, message.fenced);
  }
}

/// Looks at the words from `seen` on, which becomes the number of those that are there.
inline Arrival arrived(const std::byte* slot, size_t bytes, const FlaggedMessage& message, size_t& seen) {
  const Word* const words = reinterpret_cast<const Word*>(slot);
  for (const size_t count = num_words(bytes); seen < count; ++seen) {
    // seq_cst, pairs with the store in pack(); a look after Doorbell::announce_sleep() is not taken before the
    // announcement.
    const uint64_t word = words[seen].load(std::memory_order_seq_cst);
    if (static_cast<uint32_t>(word >> 32) != flag_of(message)) return Arrival::not_yet;
    if (seen == 0 && static_cast<uint32_t>(word) != message.fingerprint) return Arrival::of_another_call;
  }
  return Arrival::here;
}

/// Reads a message that has arrived.
inline void unpack(const std::byte* slot, std::byte* data, size_t bytes) {
  const Word* const words = reinterpret_cast<const Word*>(slot);
  for (size_t i = 0, at = 0; at < bytes; ++i, at += kWordData) {
    const uint32_t item = static_cast<uint32_t>(words[i + 1].load(std::memory_order_relaxed));  // arrived() has seen it
    std::memcpy(data + at, &item, bytes - at < kWordData ? bytes - at : kWordData);
  }
}

}  // namespace ringtree::ll
