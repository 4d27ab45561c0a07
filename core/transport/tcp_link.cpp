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
    message.payload = line.payload;
  } else {
    size_t bytes = 0;
    std::memcpy(&bytes, line.payload.data(), sizeof bytes);
    message.payload = {slots_ + at * geometry_.slot_bytes, bytes};
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

// Streams are independent: a credit may come after a newer one, and then says nothing new.
bool TcpOut::credit(uint32_t consumed) {
  const uint32_t more = consumed - static_cast<uint32_t>(credited_);
  if (const uint32_t behind = ~more + 1; behind < uint32_t{1} << 31 && behind <= credited_) return true;
  if (more > taken_ - credited_) return false;
  credited_ += more;
  return true;
}

TcpIn::TcpIn(const LinkGeometry& geometry, uint32_t peers_number)
    : geometry_(geometry),
      peers_number_(peers_number),
      storage_(new std::byte[geometry.bytes() + kLineBytes]()),
      memory_(storage_.get() +
              (kLineBytes - reinterpret_cast<uintptr_t>(storage_.get()) % kLineBytes) % kLineBytes),
      lines_(reinterpret_cast<Line*>(memory_)),
      reader_(reinterpret_cast<LinkReader*>(memory_ + geometry.readers_at())),
      slots_(memory_ + geometry.slots_at()) {
  construct_link(memory_, geometry);
}

bool TcpIn::widen(uint32_t low, uint64_t& number) const {
  const uint64_t first = consumed();
  number = first + (low - static_cast<uint32_t>(first));
  if (number - first >= static_cast<uint64_t>(geometry_.num_slots)) return false;
  // Not one that is there already.
  return !MessageFlag::is_of(lines_[number & geometry_.slot_mask()].flag.load(std::memory_order_relaxed), number);
}

std::byte* TcpIn::room_for(const TcpFrame& frame) {
  uint64_t number = 0;
  if (frame.bytes > geometry_.slot_bytes || !widen(frame.number, number)) return nullptr;
  const size_t at = number & geometry_.slot_mask();
  return frame.bytes <= kInlineBytes ? lines_[at].payload.data() : slots_ + at * geometry_.slot_bytes;
}

void TcpIn::deliver(const TcpFrame& frame) {
  uint64_t number = 0;
  if (!widen(frame.number, number)) return;  // room_for() has looked
  const size_t at = number & geometry_.slot_mask();
  const int slot = frame.bytes > kInlineBytes ? static_cast<int>(at) : MessageFlag::kNoSlot;
  // release, as SendEnd::publish(); pairs with RecvEnd::has_message(), of this thread.
  lines_[at].flag.store(MessageFlag::make(frame.fingerprint, slot, number), std::memory_order_release);
}

}  // namespace ringtree
