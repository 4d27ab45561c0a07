// A one-way link in shared memory: a FIFO of slots from one rank to one or several readers (a multicast slot is free
// when all have read it). The sender owns the memory. What a slot's bytes mean is the protocol's business.
//
//   LinkMemory: [head line] [reader 0: tail line, arrivals, releases] [reader 1: …] … [slot headers] [slot 0] … [slot
//   7]
//
// Counters only grow; message m uses slot m mod num_slots. Each counter has one writer and its own cache line. Nothing
// read from a peer is used as an index: both ends count messages themselves.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/transport/doorbell.h"
#include "core/transport/nic.h"

namespace ringtree {

inline constexpr int kMaxLinkSlots = 8;

struct alignas(64) LinkHead {
  std::atomic<uint64_t> published{0};  // messages; written by the sender
};

struct alignas(64) LinkReader {
  std::atomic<uint64_t> released{0};  // messages; written by this reader
  // Emulated clusters only: when slot s's message arrives at this reader, and when the reader freed it (ns,
  // CLOCK_MONOTONIC). Plain memory: each is written before the counter that publishes it and read after.
  alignas(64) std::array<int64_t, kMaxLinkSlots> arrival_ns{};
  alignas(64) std::array<int64_t, kMaxLinkSlots> release_ns{};
};

/// Travels with each message, so that a call that does not match the reader's is seen before its data is used.
struct alignas(64) SlotHeader {
  uint64_t fingerprint = 0;
};

/// Geometry of a link's memory; both ends derive it from the same agreed numbers.
struct LinkGeometry {
  int num_readers = 1;
  int num_slots = kMaxLinkSlots;
  size_t slot_bytes = 0;

  size_t readers_at() const { return sizeof(LinkHead); }
  size_t headers_at() const { return readers_at() + static_cast<size_t>(num_readers) * sizeof(LinkReader); }
  size_t slots_at() const { return headers_at() + static_cast<size_t>(num_slots) * sizeof(SlotHeader); }
  size_t bytes() const { return slots_at() + static_cast<size_t>(num_slots) * slot_bytes; }
};

/// One reader of a link, as its sender sees it.
struct ReaderRoute {
  Doorbell* bell = nullptr;
  bool remote = false;  // on another emulated host
};

/// The sending end. Used by one lane of one rank.
class SendEnd {
 public:
  SendEnd(std::byte* memory, LinkGeometry geometry, std::vector<ReaderRoute> readers, Nic nic);

  /// True if the next message's slot is free of all readers.
  bool has_free_slot() {
    if (next_ - oldest_ < static_cast<uint64_t>(geometry_.num_slots)) return true;
    uint64_t oldest = std::numeric_limits<uint64_t>::max();
    for (int i = 0; i < geometry_.num_readers; ++i) {
      // seq_cst, pairs with the store in RecvEnd::release(): the reader's loads from the slot come before our new
      // stores to it, and a look after Doorbell::announce_sleep() is not taken before the announcement (acquire alone
      // would allow that).
      const uint64_t released = reader(i).released.load(std::memory_order_seq_cst);
      oldest = released < oldest ? released : oldest;
    }
    oldest_ = oldest;
    return next_ - oldest_ < static_cast<uint64_t>(geometry_.num_slots);
  }
  std::byte* slot() const { return slots_ + slot_index() * geometry_.slot_bytes; }

  /// Emulated: when the slot of the next message became free (0 for one never used).
  int64_t slot_free_ns() const;

  /// Whether some reader lives on another emulated host, so that a message needs the network card.
  bool crosses() const { return num_remote_ > 0; }
  /// Asks the card of an emulated host to take the next message; see Nic::take().
  Nic::Grant take_card(size_t bytes, int64_t ready_ns, int64_t now) const {
    return nic_.take(bytes, num_remote_, ready_ns, now);
  }

  /// Hands the slot to the readers. `bytes` and `start_ns` (when the message leaves) matter to emulated clusters only.
  void publish(uint64_t fingerprint, size_t bytes, int64_t start_ns) {
    headers_[slot_index()].fingerprint = fingerprint;
    if (nic_.shaped()) stamp_arrivals(bytes, start_ns);
    ++next_;
    // seq_cst: releases the slot's bytes (pairs with the load in RecvEnd::has_message()) and orders before the look
    // at the bell.
    head_->published.store(next_, std::memory_order_seq_cst);
    for (const ReaderRoute& route : routes_) route.bell->ring();
  }

 private:
  LinkReader& reader(int index) const { return readers_[index]; }
  size_t slot_index() const { return next_ % static_cast<uint64_t>(geometry_.num_slots); }
  void stamp_arrivals(size_t bytes, int64_t start_ns);

  LinkHead* head_;
  LinkReader* readers_;
  SlotHeader* headers_;
  std::byte* slots_;
  LinkGeometry geometry_;
  std::vector<ReaderRoute> routes_;
  Nic nic_;
  int num_remote_ = 0;
  uint64_t next_ = 0;    // messages published
  uint64_t oldest_ = 0;  // messages that all readers have released, when last looked
};

/// The receiving end of one reader. Used by one lane of one rank.
class RecvEnd {
 public:
  RecvEnd(std::byte* memory, LinkGeometry geometry, int reader_index, Doorbell* sender_bell, int peer);

  bool has_message() {
    if (next_ < published_) return true;
    // seq_cst, pairs with the store in SendEnd::publish(): the slot's bytes and header are there, and a look after
    // Doorbell::announce_sleep() is not taken before the announcement (acquire alone would allow that).
    published_ = head_->published.load(std::memory_order_seq_cst);
    return next_ < published_;
  }
  const std::byte* slot() const { return slots_ + slot_index() * geometry_.slot_bytes; }
  uint64_t fingerprint() const { return headers_[slot_index()].fingerprint; }
  int64_t arrival_ns() const { return reader_->arrival_ns[slot_index()]; }
  int peer() const { return peer_; }

  /// Gives the slot back. `now_ns`: emulated links only.
  void release(bool shaped, int64_t now_ns) {
    if (shaped) reader_->release_ns[slot_index()] = now_ns;
    ++next_;
    // seq_cst: our loads from the slot come before the sender's next stores to it (pairs with the load in
    // SendEnd::has_free_slot()), and the store comes before the look at the bell.
    reader_->released.store(next_, std::memory_order_seq_cst);
    sender_bell_->ring();
  }

 private:
  size_t slot_index() const { return next_ % static_cast<uint64_t>(geometry_.num_slots); }

  LinkHead* head_;
  LinkReader* reader_;
  SlotHeader* headers_;
  std::byte* slots_;
  LinkGeometry geometry_;
  Doorbell* sender_bell_;
  int peer_;
  uint64_t next_ = 0;       // messages released
  uint64_t published_ = 0;  // messages published, when last looked
};

/// Makes the objects of a zeroed link memory. Called once, by the sender, before any peer maps it.
void construct_link(std::byte* memory, const LinkGeometry& geometry);

}  // namespace ringtree
