// One peer's shared buffers as this rank has them mapped: what a message that names a place instead of a slot refers
// to. Written by the thread that hears of them, read by the one that runs collectives.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringtree {

/// A place in a shared buffer of the sender's, as it travels in a message's line.
struct SharedPlace {
  uint64_t region = 0;  // the sender's number for the buffer
  uint64_t offset = 0;  // bytes
};

inline constexpr uint64_t kMaxSharedRegions = 256;  // of one rank at a time; further ones are copied like any memory

/// Region r has entry r mod 256. A number is never used twice: messages and the word of their buffers take different
/// ways, so a message about a new buffer may come while its entry still holds the one before.
class SharedTable {
 public:
  void set(uint64_t region, std::byte* base, size_t bytes) {
    Entry& entry = entries_[region % kMaxSharedRegions];
    entry.base.store(base, std::memory_order_relaxed);  // published by the region, as is the size
    entry.bytes.store(bytes, std::memory_order_relaxed);
    entry.region.store(region + 1, std::memory_order_release);  // pairs with the acquire in find()
  }
  /// The peer sends nothing from there any more.
  void clear(uint64_t region) { entries_[region % kMaxSharedRegions].region.store(0, std::memory_order_relaxed); }

  enum class Found : uint8_t { here, not_yet, nonsense };
  /// Where the peer's `bytes` bytes are. Not yet: the message is here before the word of its buffer.
  Found find(const SharedPlace& place, size_t bytes, const std::byte*& at) const {
    const Entry& entry = entries_[place.region % kMaxSharedRegions];
    if (entry.region.load(std::memory_order_acquire) != place.region + 1) return Found::not_yet;  // pairs with set()
    const size_t size = entry.bytes.load(std::memory_order_relaxed);
    if (place.offset > size || bytes > size - place.offset) return Found::nonsense;
    at = entry.base.load(std::memory_order_relaxed) + place.offset;
    return Found::here;
  }

 private:
  struct Entry {
    std::atomic<uint64_t> region{0};  // + 1; 0: none
    std::atomic<std::byte*> base{nullptr};
    std::atomic<size_t> bytes{0};
  };
  std::array<Entry, kMaxSharedRegions> entries_;
};

}  // namespace ringtree
