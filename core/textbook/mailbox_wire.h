// The wire over mailboxes in shared memory (mailbox.h). For messages that are moved a round at a time (exchange), and
// for those that are made and read where they lie (the rest; walk_fused).
//
// Nobody waits for ever: a message of a round waits for the peer to be done with the last round but one that the two
// had in common, which it is before it comes to the round before.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/textbook/inbox.h"
#include "core/textbook/mailbox.h"
#include "core/textbook/watch.h"
#include "core/textbook/wire.h"
#include "core/transport/segment.h"

namespace ringtree::textbook {

class MailboxWire final : public Wire {
 public:
  /// `mesh`, `inbox` and `watch` outlive the wire. `pauses`: how long a wait spins before it sleeps.
  MailboxWire(Mesh& mesh, Inbox& inbox, Watch& watch, int pauses);

  /// Mailboxes that are too small are replaced, at both ends alike.
  void make_room(const BoundRounds& bound) override;
  bool exchange(const BoundRound& round, const Memory& memory) override;

  /// Before the first message of a round is made: waits until its half is free. False: stopped.
  bool begin_sends(const BoundRound& round);
  std::byte* room(const BoundMessage& message) {
    const Sending& to = sending_[static_cast<size_t>(message.peer)];
    return to.box.half(to.round & 1) + message.mail_at;
  }
  void publish(const BoundMessage& message);
  void end_sends(const BoundRound& round);

  /// Where a message of this round lies, once it is there; null: stopped.
  const std::byte* wait_for(const BoundMessage& message);
  void release(const BoundMessage& message);
  void end_recvs(const BoundRound& round);

 private:
  struct Sending {
    std::shared_ptr<Segment> segment;
    Mailbox box;
    uint64_t round = 0;              // rounds with messages for this peer, so far
    uint64_t sent = 0;               // messages in them
    std::array<uint64_t, 2> ends{};  // what `sent` was after the last round of each half
  };
  struct Hearing {
    std::shared_ptr<Segment> segment;
    Mailbox box;
    uint64_t round = 0;
    uint64_t heard = 0;  // messages of earlier rounds
    uint64_t taken = 0;
  };

  void replace(int peer, const MailNeed& room);
  void accept(int peer, const MailNeed& room);

  Mesh& mesh_;
  Inbox& inbox_;
  Watch& watch_;
  const int pauses_;
  std::vector<Sending> sending_;  // by peer
  std::vector<Hearing> hearing_;
};

}  // namespace ringtree::textbook
