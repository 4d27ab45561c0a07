// See mailbox_wire.h.
#include "core/textbook/mailbox_wire.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/bootstrap/wire.h"
#include "core/textbook/waiting.h"

namespace ringtree::textbook {
namespace {

/// What the larger of two needs asks for; whether `have` is enough for `need`.
MailNeed larger(const MailNeed& have, const MailNeed& need) {
  return {std::max(have.num_letters, need.num_letters), std::max(have.bytes, need.bytes)};
}
bool is_enough(const MailNeed& have, const MailNeed& need) {
  return have.num_letters >= need.num_letters && have.bytes >= need.bytes;
}

}  // namespace

MailboxWire::MailboxWire(Mesh& mesh, Inbox& inbox, Watch& watch, int pauses)
    : mesh_(mesh),
      inbox_(inbox),
      watch_(watch),
      pauses_(pauses),
      sending_(static_cast<size_t>(mesh.world_size())),
      hearing_(static_cast<size_t>(mesh.world_size())) {}

void MailboxWire::make_room(const BoundRounds& bound) {
  // All are announced before any is waited for.
  for (size_t peer = 0; peer < sending_.size(); ++peer)
    if (!is_enough(sending_[peer].box.room, bound.sending[peer]))
      replace(static_cast<int>(peer), larger(sending_[peer].box.room, bound.sending[peer]));
  for (size_t peer = 0; peer < hearing_.size(); ++peer)
    if (!is_enough(hearing_[peer].box.room, bound.hearing[peer]))
      accept(static_cast<int>(peer), larger(hearing_[peer].box.room, bound.hearing[peer]));
}

void MailboxWire::replace(int peer, const MailNeed& room) {
  // The old one first: the peer has its own mapping of it, for what it has not read yet.
  sending_[static_cast<size_t>(peer)] = {};
  Sending made;
  made.segment = Segment::create(Mailbox::bytes(room), "the mailbox for " + watch_.describe(peer));
  made.box = {made.segment->data(), room};
  made.box.construct();
  ByteWriter writer;
  writer.number(made.segment->id(), 8).number(static_cast<uint64_t>(room.num_letters), 8).number(room.bytes, 8);
  mesh_.send(peer, ControlType::link, writer.take(), made.segment->fd());
  sending_[static_cast<size_t>(peer)] = std::move(made);
}

void MailboxWire::accept(int peer, const MailNeed& room) {
  Announcement announced = inbox_.take(peer, watch_);
  ByteReader reader(announced.payload);
  const uint64_t id = reader.number(8), num_letters = reader.number(8), bytes = reader.number(8);
  if (!reader.done() || num_letters != static_cast<uint64_t>(room.num_letters) || bytes != room.bytes) {
    watch_.fail(Trouble::mismatch, watch_.describe(peer) + " is preparing a different call from " +
                                       watch_.describe(mesh_.rank()) + ": a mailbox of " + std::to_string(bytes) +
                                       " bytes where " + std::to_string(room.bytes) + " are needed");
    watch_.raise();
  }
  Hearing& from = hearing_[static_cast<size_t>(peer)];
  from = {};
  from.segment =
      Segment::open(announced.descriptor.release(), Mailbox::bytes(room), watch_.is_in_this_process(peer), id);
  from.box = {from.segment->data(), room};
}

bool MailboxWire::exchange(const BoundRound& round, const Memory& memory) {
  if (!begin_sends(round)) return false;
  for (const BoundMessage& message : round.sends) {
    std::memcpy(room(message), memory.at(message.spot), message.bytes);
    publish(message);
  }
  end_sends(round);
  for (const BoundMessage& message : round.recvs) {
    const std::byte* const data = wait_for(message);
    if (!data) return false;
    std::memcpy(memory.at(message.spot), data, message.bytes);
    release(message);
  }
  end_recvs(round);
  return true;
}

bool MailboxWire::begin_sends(const BoundRound& round) {
  for (const PeerCount& to : round.to) {
    const Sending& sending = sending_[static_cast<size_t>(to.peer)];
    const uint64_t needed = sending.ends[sending.round & 1];
    // seq_cst, pairs with the store in release(): the peer's last reads come before our writes, and either we see the
    // store or the peer sees that we sleep.
    const auto is_free = [&] { return sending.box.head().taken.count.load(std::memory_order_seq_cst) >= needed; };
    if (!wait_until(watch_, to.peer, sending.box.head().for_sender.bell, pauses_, is_free)) return false;
  }
  return true;
}

void MailboxWire::publish(const BoundMessage& message) {
  const Sending& to = sending_[static_cast<size_t>(message.peer)];
  Letter& letter = to.box.letter(to.round & 1, message.letter);
  letter.bytes = message.bytes;
  // seq_cst, pairs with the load in wait_for(): who sees the number sees the message; and either the peer sees it
  // before it sleeps, or we see that it sleeps.
  letter.number.store(to.sent + static_cast<uint64_t>(message.letter) + 1, std::memory_order_seq_cst);
  to.box.head().for_receiver.bell.ring();
}

void MailboxWire::end_sends(const BoundRound& round) {
  for (const PeerCount& to : round.to) {
    Sending& sending = sending_[static_cast<size_t>(to.peer)];
    sending.sent += static_cast<uint64_t>(to.count);
    sending.ends[sending.round & 1] = sending.sent;
    ++sending.round;
  }
}

const std::byte* MailboxWire::wait_for(const BoundMessage& message) {
  const Hearing& from = hearing_[static_cast<size_t>(message.peer)];
  const size_t half = from.round & 1;
  const Letter& letter = from.box.letter(half, message.letter);
  const uint64_t number = from.heard + static_cast<uint64_t>(message.letter) + 1;
  // seq_cst, pairs with the store in publish().
  const auto is_there = [&] { return letter.number.load(std::memory_order_seq_cst) == number; };
  if (!wait_until(watch_, message.peer, from.box.head().for_receiver.bell, pauses_, is_there)) return nullptr;
  if (letter.bytes != message.bytes) {
    watch_.fail_length(message.peer, letter.bytes, message.bytes);
    return nullptr;
  }
  return from.box.half(half) + message.mail_at;
}

void MailboxWire::release(const BoundMessage& message) {
  Hearing& from = hearing_[static_cast<size_t>(message.peer)];
  // seq_cst, pairs with the load in begin_sends().
  from.box.head().taken.count.store(++from.taken, std::memory_order_seq_cst);
  from.box.head().for_sender.bell.ring();
}

void MailboxWire::end_recvs(const BoundRound& round) {
  for (const PeerCount& from : round.from) {
    Hearing& hearing = hearing_[static_cast<size_t>(from.peer)];
    hearing.heard += static_cast<uint64_t>(from.count);
    ++hearing.round;
  }
}

}  // namespace ringtree::textbook
