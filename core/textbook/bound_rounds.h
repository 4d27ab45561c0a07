// One rank's rounds of a schedule (core/schedule/rounds.h) with sizes: what travels is whole chunks, and it is known
// where each message and each operand lies. Made once a (schedule, count, dtype), so that a call only moves bytes.
//
// Messages of one round between two ranks lie end to end in one half of their mailbox. Both ends find the same places,
// because both list them in the same order. (TCP needs the order only.)
#pragma once

#include <cstddef>
#include <vector>

#include "core/schedule/rounds.h"

namespace ringtree::textbook {

inline constexpr size_t kMailGrain = 64;  // a cache line: no two messages share one

/// A place on this rank. Scratch is the schedule's, and after it lie temporaries.
struct Spot {
  Buffer buffer = Buffer::none;
  size_t offset = 0;  // bytes
  explicit operator bool() const { return buffer != Buffer::none; }
};

/// The memory of one call.
struct Memory {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;

  std::byte* at(const Spot& spot) const {
    switch (spot.buffer) {
      case Buffer::none:
        return nullptr;
      case Buffer::input:
        return const_cast<std::byte*>(input) + spot.offset;  // only read: Program forbids it as dst
      case Buffer::output:
        return output + spot.offset;
      case Buffer::scratch:
        break;
    }
    return scratch + spot.offset;
  }
};

/// One message, at either end.
struct BoundMessage {
  int peer = 0;
  size_t bytes = 0;    // never 0: both ends know the layout, so both leave an empty message out
  Spot spot;           // where it is sent from or received; none: it is made, or stays, in the mailbox
  int letter = 0;      // which of its pair's messages in this round
  size_t mail_at = 0;  // bytes into the mailbox's half
};

/// A run of a step's operand that is in one piece wherever it lies; byte offsets.
struct Piece {
  size_t at = 0;  // in the messages of the step
  size_t bytes = 0;
  size_t src = 0, dst = 0;  // in the step's buffers
};

/// An operand that came from a peer.
struct Arrived {
  int message = -1;  // of this round: read in its mailbox; -1: it lies at `spot`
  Spot spot;
};

/// What a step does between its messages.
struct BoundStep {
  bool reduces = false;
  Buffer src = Buffer::none, dst = Buffer::none;
  int src_at = 0;
  std::vector<Piece> pieces;
  std::vector<Arrived> arrived;  // in fold order
  Spot parcel;                   // where an outgoing message is put together, if its bytes lie in no one piece
  std::vector<int> leaving;      // messages of the next round that are made here, in mailboxes
};

/// How many messages of a round go to, or come from, one peer.
struct PeerCount {
  int peer = 0;
  int count = 0;
};

struct BoundRound {
  std::vector<BoundMessage> sends, recvs;
  std::vector<PeerCount> to, from;
  std::vector<BoundStep> steps;
};

/// What one half of a pair's mailbox must hold.
struct MailNeed {
  int num_letters = 0;
  size_t bytes = 0;
};

struct BoundRounds {
  std::vector<BoundRound> rounds;
  size_t scratch_bytes = 0;                // with temporaries
  std::vector<MailNeed> sending, hearing;  // by peer
};

/// `fused`: messages are made and read in mailboxes, unless a step must wait after its message has come. Throws
/// UsageError if the schedule can't finish or a step has too many operands.
BoundRounds bind_rounds(const Schedule& schedule, int rank, size_t count, size_t item_bytes, bool fused);

}  // namespace ringtree::textbook
