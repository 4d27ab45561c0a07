// What a mailbox looks like in shared memory: one for each two ranks and direction, made by its sender.
//
//   [taken] [two bells] [letters of half 0] [letters of half 1] [half 0: messages end to end] [half 1]
//
// Rounds in which the two exchange messages use the halves in turn: the messages of a round are written while those of
// the round before are still being read. A letter says that its message is there. Counters only grow, and each has one
// writer; what a peer wrote is checked before it is used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "core/textbook/bound_rounds.h"
#include "core/transport/doorbell.h"

namespace ringtree::textbook {

/// One of a half's messages: in its place, once `number` says so.
struct alignas(kMailGrain) Letter {
  std::atomic<uint64_t> number{0};  // of the message, over all rounds, from 1; written by the sender
  uint64_t bytes = 0;               // written before `number`
};

struct alignas(kMailGrain) Taken {
  std::atomic<uint64_t> count{0};  // messages that the receiver is done with; written by it
};

/// What the sleeping side of a mailbox is woken by.
struct alignas(kMailGrain) Bell {
  Doorbell bell;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// The parts of a mailbox's memory.
struct Mailbox {
  /// What lies before the letters.
  struct Head {
    Taken taken;
    Bell for_sender, for_receiver;
  };

  std::byte* memory = nullptr;
  MailNeed room;  // of each half

  static size_t bytes(const MailNeed& room) {
    return sizeof(Head) + 2 * (static_cast<size_t>(room.num_letters) * sizeof(Letter) + room.bytes);
  }
  /// Makes the objects in zeroed memory. Once, by the sender, before the peer maps it.
  void construct() const {
    new (memory) Head;
    for (int i = 0; i < 2 * room.num_letters; ++i)
      new (memory + sizeof(Head) + static_cast<size_t>(i) * sizeof(Letter)) Letter;
  }
  Head& head() const { return *reinterpret_cast<Head*>(memory); }
  Letter& letter(size_t half, int index) const {
    const size_t at = half * static_cast<size_t>(room.num_letters) + static_cast<size_t>(index);
    return *reinterpret_cast<Letter*>(memory + sizeof(Head) + at * sizeof(Letter));
  }
  std::byte* half(size_t half) const {
    return memory + sizeof(Head) + 2 * static_cast<size_t>(room.num_letters) * sizeof(Letter) + half * room.bytes;
  }
};

}  // namespace ringtree::textbook
