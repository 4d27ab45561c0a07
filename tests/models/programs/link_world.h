// The real ends of links (core/transport/link.h) over the explorer's memory: what a link has in shared memory, and how
// a rank sends and receives over it. Small constants, since every execution is tried; the code does not know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/transport/link.h"
#include "tests/models/explorer/explorer.h"
#include "tests/models/explorer/policy.h"

namespace ringtree::explorer {

inline constexpr int kSlots = 2;  // messages under way at most
inline constexpr size_t kSlotBytes = kInlineBytes + sizeof(uint64_t);
inline constexpr size_t kLarge = kSlotBytes;  // of a message that lies in a slot; 8 of its bytes are used
inline constexpr size_t kSmall = sizeof(uint64_t);
inline constexpr uint32_t kFingerprint = 7;

using SlotMemory = std::array<std::byte, kSlotBytes>;

/// What one link has in shared memory, beside its slots.
template <size_t num_readers>
struct LinkLines {
  std::array<BasicLine<Explored>, kSlots> lines;
  std::array<BasicLinkReader<Explored>, num_readers> readers;

  void name_all(Program& program) {
    for (auto& line : lines) program.name(&line.flag, sizeof line.flag, "flag");
    for (auto& line : lines) program.name(&line.payload, sizeof line.payload, "payload");
    for (auto& reader : readers) program.name(&reader.released, sizeof reader.released, "released");
  }
};

/// Faults of whoever uses a link, and how it stores.
struct LinkUse {
  bool flag_before_payload = false;
  bool release_before_reading = false;
  bool stream = false;             // non-temporal stores, then a store fence
  bool in_place = false;           // the message stays in the sender's buffer, which its readers have mapped
  bool overwrite_at_once = false;  // a fault of the sender's whose messages are read in place
  bool in_lines = false;           // both ends know that all messages lie in lines; the sender looks early
  bool looks_early = false;        // so it does where they lie in slots
};

inline uint64_t payload_of(uint64_t message) { return 100 + message; }

template <class Sender>
void publish(Sender& end, size_t bytes, const LinkUse& use) {
  if (use.in_lines) {
    end.publish_line(kFingerprint, bytes);
  } else {
    end.publish(kFingerprint, bytes, 0);
  }
  if (use.in_lines || use.looks_early) end.look_early();
}

/// There is a free slot. Writes message number `message` into `room` and publishes it.
template <class Sender>
void write_and_publish(Sender& end, std::byte* room, uint64_t message, size_t bytes, const LinkUse& use) {
  const uint64_t value = payload_of(message);
  if (use.flag_before_payload) publish(end, bytes, use);
  if (use.stream) {
    stream_bytes(room, &value, sizeof value);
    store_fence();
  } else {
    write_bytes(room, &value, sizeof value);
  }
  if (!use.flag_before_payload) publish(end, bytes, use);
}

template <class Sender>
void send(Sender& end, uint64_t message, size_t bytes, const LinkUse& use) {
  write_and_publish(end, use.in_lines ? end.line_room() : end.room(bytes), message, bytes, use);
}

/// Reads the message that lies there and requires it to be number `message`.
inline void read_payload(const std::byte* data, uint64_t message) {
  uint64_t value = 0;
  read_bytes(&value, data, sizeof value);
  require(value == payload_of(message), "not the message that is due");
}

/// There is a message, of this call, in a place that exists.
template <class Receiver>
void locate(Receiver& end) {
  require(end.fingerprint() == kFingerprint, "a message of another call");
  require(end.locate(kLarge) == SharedTable::Found::here, "a place that does not exist");
}

/// Whether there is a message.
template <class Receiver>
bool has_message(Receiver& end, const LinkUse& use) {
  if (!use.in_lines) return end.has_message();
  const bool is_there = end.has_line_message(kFingerprint);
  require(is_there || !end.has_other_message(), "a message of another call");
  return is_there;
}

/// There is a message.
template <class Receiver>
void receive(Receiver& end, uint64_t message, const LinkUse& use) {
  if (!use.in_lines) locate(end);
  const std::byte* const data = use.in_lines ? end.line_data() : end.data();
  if (!use.release_before_reading) read_payload(data, message);
  end.take_slot(kLarge);
  end.release(false, 0);
  if (use.release_before_reading) read_payload(data, message);
}

}  // namespace ringtree::explorer
