// Helper of the tests of ll and ll128: a slot between guard bytes, data to send, and two threads that send messages of
// all sizes over one link. What is the same for both protocols; what they look like in memory is each test's own.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "core/protocol/protocol.h"
#include "core/transport/fence.h"
#include "core/transport/link.h"
#include "tests/core/transport/aligned_bytes.h"

namespace ringtree::testing {

inline constexpr size_t kTestSlotBytes = 1 << 16;

/// Byte `index` of message `message`.
inline std::byte byte_of(uint64_t message, size_t index) {
  return static_cast<std::byte>((message * 64 + index + 1) * 0x9e3779b97f4a7c15u >> 56);
}
inline std::vector<std::byte> bytes_of(uint64_t message, size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = byte_of(message, i);
  return bytes;
}

/// A zeroed slot between guard bytes.
class GuardedSlot {
 public:
  GuardedSlot() : memory_(aligned_bytes(kTestSlotBytes + 2 * kGuardBytes)) {
    std::memset(memory_.get(), 0xA5, kGuardBytes);
    std::memset(memory_.get() + kGuardBytes + kTestSlotBytes, 0xA5, kGuardBytes);
  }
  std::byte* data() { return memory_.get() + kGuardBytes; }
  bool intact() const {
    for (size_t i = 0; i < kGuardBytes; ++i)
      if (memory_[i] != std::byte{0xA5} || memory_[kGuardBytes + kTestSlotBytes + i] != std::byte{0xA5}) return false;
    return true;
  }

 private:
  static constexpr size_t kGuardBytes = 256;
  AlignedBytes memory_;
};

/// 0 to 200 bytes, all that a slot carries, and around it.
inline std::vector<size_t> interesting_sizes(Protocol protocol) {
  const size_t most = info_of(protocol).slice_bytes;
  std::vector<size_t> sizes = {most / 2 + 3, most - 57, most - 1, most};
  for (size_t bytes = 0; bytes <= 200; ++bytes) sizes.push_back(bytes);
  return sizes;
}

/// One thread sends, one receives, both sleep when they must wait. `Wire` has the protocol's pack, arrived and unpack
/// with one signature. `first`: number of the first message that counts, to start at where numbers wrap.
template <class Wire>
class TwoThreads {
 public:
  TwoThreads(Protocol protocol, bool fenced) : protocol_(protocol), fenced_(fenced) {
    geometry_.slot_bytes = kTestSlotBytes;
    memory_ = aligned_bytes(geometry_.bytes());
    construct_link(memory_.get(), geometry_);
  }

  /// How many messages came whole and in order.
  uint64_t run(uint64_t num_messages) {
    std::thread sender([&] { send(num_messages); });
    const uint64_t intact = receive(num_messages);
    sender.join();
    return intact;
  }

 private:
  // Mostly small; now and then all that a slot carries, so that every word has stood for other messages before.
  size_t size_of(uint64_t message) const {
    if (message % 97 == 0) return info_of(protocol_).slice_bytes;
    return message * message * 13 % (message % 5 == 0 ? 3000 : 130);
  }
  static uint32_t fingerprint_of(uint64_t message) { return static_cast<uint32_t>(message / 10 * 0x9e3779b9u); }

  void send(uint64_t num_messages) {
    SendEnd end = make_send_end(memory_.get(), geometry_, {}, {{&reader_bell_, false}}, fenced_, {});
    for (uint64_t m = 0; m < num_messages; ++m) {
      if (!sleep_until(sender_bell_, fenced_, [&] { return end.has_free_slot(); })) return;
      const std::vector<std::byte> data = bytes_of(m, size_of(m));
      Wire::pack(end.slot(), data.data(), data.size(), {m, fingerprint_of(m), fenced_});
      end.publish_flagged();
    }
  }

  uint64_t receive(uint64_t num_messages) {
    RecvEnd end = make_recv_end(memory_.get(), geometry_, 0, {}, &sender_bell_, 0, nullptr, fenced_);
    std::vector<std::byte> data(kTestSlotBytes);
    for (uint64_t m = 0; m < num_messages; ++m) {
      const size_t bytes = size_of(m);
      size_t seen = 0;
      const auto here = [&] {
        return Wire::arrived(end.flagged_slot(), bytes, {m, fingerprint_of(m), fenced_}, seen) == Arrival::here;
      };
      if (!sleep_until(reader_bell_, fenced_, here)) return m;
      Wire::unpack(end.flagged_slot(), data.data(), bytes);
      for (size_t i = 0; i < bytes; ++i)
        if (data[i] != byte_of(m, i)) return m;
      end.release(false, 0);
    }
    return num_messages;
  }

  Protocol protocol_;
  bool fenced_;
  LinkGeometry geometry_;
  AlignedBytes memory_;
  Doorbell sender_bell_, reader_bell_;
};

#if defined(__SANITIZE_THREAD__)
inline constexpr uint64_t kMessagesBetweenThreads = 2'000;
#else
inline constexpr uint64_t kMessagesBetweenThreads = 20'000;
#endif

template <class Wire>
void expect_messages_arrive_between_threads(Protocol protocol) {
  for (bool fenced : {true, false}) {
    if (!fenced && !can_fence_everybody()) continue;
    EXPECT_EQ(TwoThreads<Wire>(protocol, fenced).run(kMessagesBetweenThreads), kMessagesBetweenThreads)
        << (fenced ? "fenced" : "not fenced");
  }
}

}  // namespace ringtree::testing
