// See tcp_link.h.
#include "core/transport/tcp_link.h"

#include <algorithm>
#include <cassert>

#include "core/base/crc32c.h"

namespace ringtree {

TcpOut::Message TcpOut::take(bool with_crc) {
  assert(may_leave());
  Message message{taken_++, {}, {}};
  const size_t at = message.number & geometry_.slot_mask();
  const Line& line = lines_[at];
  const uint64_t flag = line.flag.load(std::memory_order_relaxed);  // published by this thread
  if (MessageFlag::slot(flag) == MessageFlag::kNoSlot) {
    // At most: a rank of this host may have written the flag.
    message.payload = std::span(line.payload).first(std::min(end_.bytes_of(message.number), kInlineBytes));
  } else if (MessageFlag::slot(flag) == MessageFlag::kInOwnMemory) {
    message.payload = end_.own_memory_of(message.number);
  } else {
    message.payload = {slots_ + at * geometry_.slot_bytes, end_.bytes_of(message.number)};
  }
  message.frame.link = static_cast<uint32_t>(peers_number_.load(std::memory_order_relaxed) - 1);
  message.frame.number = static_cast<uint32_t>(message.number);
  message.frame.bytes = static_cast<uint32_t>(message.payload.size());
  message.frame.fingerprint = MessageFlag::fingerprint(flag);
  message.frame.has_payload_crc = with_crc;
  if (with_crc) message.frame.payload_crc = crc32c(message.payload.data(), message.payload.size());
  return message;
}

// Streams are independent: a later message may leave first. Slots are freed in order.
void TcpOut::sent(uint64_t number) {
  left_ |= 1u << (number & geometry_.slot_mask());
  while (released_ != taken_ && (left_ >> (released_ & geometry_.slot_mask()) & 1) != 0)
    left_ &= ~(1u << (released_++ & geometry_.slot_mask()));
  // seq_cst as any reader's (RecvEnd::release()): the link's sender looks at it in SendEnd::refresh().
  reader_->released.store(released_, std::memory_order_seq_cst);
}

bool TcpOut::credit(uint32_t consumed) {
  if (const std::optional<uint64_t> now = number_within(consumed, credited_, taken_ - credited_ + 1)) {
    credited_ = *now;
    return true;
  }
  // Streams are independent, and one may have been stuck for long.
  const uint64_t old = std::min<uint64_t>(credited_, uint64_t{1} << 31);
  return number_within(consumed, credited_ - old, old).has_value();
}

TcpIn::TcpIn(const LinkGeometry& geometry, uint32_t peers_number)
    : geometry_(geometry),
      peers_number_(peers_number),
      storage_(new std::byte[geometry.bytes() + kLineBytes]()),
      memory_(storage_.get() + (kLineBytes - reinterpret_cast<uintptr_t>(storage_.get()) % kLineBytes) % kLineBytes),
      lines_(reinterpret_cast<Line*>(memory_)),
      reader_(reinterpret_cast<LinkReader*>(memory_ + geometry.readers_at())),
      slots_(memory_ + geometry.slots_at()) {
  construct_link(memory_, geometry);
}

std::byte* TcpIn::room_for(const TcpFrame& frame) {
  const std::optional<uint64_t> number = number_of(frame.number);
  if (!number || frame.bytes > geometry_.slot_bytes) return nullptr;
  const size_t at = *number & geometry_.slot_mask();
  // relaxed: this thread writes it.
  if (MessageFlag::is_of(lines_[at].flag.load(std::memory_order_relaxed), *number)) return nullptr;
  if ((begun_ >> at & 1) != 0) return nullptr;  // on another stream: it would write into what the reader may read
  begun_ |= 1u << at;
  coming_bytes_[at] = frame.bytes;
  const bool asks = placer_ && frame.bytes > kInlineBytes;
  places_[at] = asks ? placer_->place_for(*number, frame.bytes, frame.fingerprint) : nullptr;
  return room_of(frame);
}

std::byte* TcpIn::room_of(const TcpFrame& frame) const {
  const size_t at = frame.number & geometry_.slot_mask();
  if (places_[at]) return places_[at];
  return frame.bytes <= kInlineBytes ? lines_[at].payload.data() : slots_ + at * geometry_.slot_bytes;
}

// How much of a message has come only its stream knows, so what has not come yet is copied with it.
void TcpIn::ask(Placer* placer) {
  placer_ = placer;
  if (placer) return;
  for (size_t at = 0; begun_ >> at != 0; ++at) {
    if ((begun_ >> at & 1) == 0 || !places_[at]) continue;
    std::memcpy(slots_ + at * geometry_.slot_bytes, places_[at], coming_bytes_[at]);
    places_[at] = nullptr;
  }
}

void TcpIn::deliver(const TcpFrame& frame) {
  const uint64_t number = number_of(frame.number).value_or(0);  // there is one: room_for() has looked
  const size_t at = number & geometry_.slot_mask();
  begun_ &= ~(1u << at);
  const int in_slot = frame.bytes > kInlineBytes ? static_cast<int>(at) : MessageFlag::kNoSlot;
  const int slot = places_[at] ? MessageFlag::kPlaced : in_slot;
  // release, as SendEnd::publish(); pairs with RecvEnd::has_message(), of this thread.
  lines_[at].flag.store(MessageFlag::make(frame.fingerprint, slot, number), std::memory_order_release);
}

}  // namespace ringtree
