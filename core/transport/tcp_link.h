// A link whose reader is on another host. Neither the sender nor the reader knows: on the sender's side a TcpOut stands
// in for the reader and takes the messages out of the link's memory; on the reader's side a TcpIn stands in for the
// sender and puts them into memory of the same shape, or where a placer says (placement.h). In between they travel as
// frames (tcp_frame.h) over the streams of the two ranks (tcp_port.h).
//
// Back-pressure: the sender has at most as many messages under way as the reader's memory has slots, and learns by
// credits which were consumed. A message that has come therefore always has its place, and no stream ever waits for the
// reader of one link while others have messages in it: ranks cannot lock up over TCP that would not lock up over shared
// memory. The sender's own slot is free once the kernel has its bytes, and so is the memory of a message that was not
// put into a slot (SendEnd::publish_from()).
//
// All members are used by the thread that runs the rank's calls, but TcpOut::accept().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "core/transport/link.h"
#include "core/transport/placement.h"
#include "core/transport/tcp_frame.h"

namespace ringtree {

/// The number within first..first + count - 1 whose low 32 bits are `low`, if there is one: numbers travel modulo 2^32.
inline std::optional<uint64_t> number_within(uint32_t low, uint64_t first, uint64_t count) {
  const uint32_t beyond = low - static_cast<uint32_t>(first);
  return beyond < count ? std::optional(first + beyond) : std::nullopt;
}

class TcpOut {
 public:
  /// `memory`: of a link that construct_link() made with slots of its own; `end`: its sender. Both outlive this.
  TcpOut(std::byte* memory, const LinkGeometry& geometry, int reader_index, const SendEnd& end)
      : lines_(reinterpret_cast<const Line*>(memory)),
        reader_(reinterpret_cast<LinkReader*>(memory + geometry.readers_at()) + reader_index),
        slots_(memory + geometry.slots_at()),
        geometry_(geometry),
        end_(end) {}

  /// The reader knows of the link, and gave it this number; from any thread. Nothing leaves before.
  // release, pairs with the acquire in may_leave(): what was set up for the link before is there.
  void accept(uint32_t peers_number) { peers_number_.store(uint64_t{peers_number} + 1, std::memory_order_release); }

  /// Whether a message can leave now.
  bool may_leave() const {
    return end_.next() != taken_ && taken_ - credited_ < static_cast<uint64_t>(geometry_.num_slots) &&
           peers_number_.load(std::memory_order_acquire) != 0;
  }
  /// Whether everything that was published has left.
  bool empty() const { return released_ == end_.next(); }

  struct Message {
    uint64_t number;
    TcpFrame frame;  // without its sequence
    std::span<const std::byte> payload;
  };
  /// The next message; its bytes stay where they are until sent(). Requires may_leave().
  Message take(bool with_crc);
  /// The kernel has message `number`, which take() gave.
  void sent(uint64_t number);
  /// The reader has consumed all messages before `consumed` (modulo 2^32). False: that cannot be. One that a later one
  /// has overtaken on another stream changes nothing.
  bool credit(uint32_t consumed);

 private:
  const Line* lines_;
  LinkReader* reader_;
  const std::byte* slots_;
  const LinkGeometry geometry_;
  const SendEnd& end_;
  std::atomic<uint64_t> peers_number_{0};  // + 1; 0: not yet
  uint64_t taken_ = 0;                     // messages that were given to streams
  uint64_t released_ = 0;                  // all before it have left
  uint64_t credited_ = 0;                  // all before it were consumed
  uint32_t left_ = 0;                      // of those from released_ on: which have left; bit number % 8
};

class TcpIn final : public Placement {
 public:
  /// `peers_number`: what the sender calls its end.
  TcpIn(const LinkGeometry& geometry, uint32_t peers_number);

  const LinkGeometry& geometry() const { return geometry_; }
  /// For make_recv_end().
  std::byte* memory() const { return memory_; }
  uint32_t peers_number() const { return peers_number_; }

  /// Where the message of this frame goes; null if there can be no such message: it is too long, or not one of those
  /// that the sender may have under way, or has come or begun to come already.
  std::byte* room_for(const TcpFrame& frame);
  /// The same of a message that has begun to come: it may no longer be placed, and what had come lies in its slot then.
  std::byte* room_of(const TcpFrame& frame) const;
  /// It is there: the reader may see it.
  void deliver(const TcpFrame& frame);

  void ask(Placer* placer) override;

  /// How many consumed messages the sender has not been told of.
  uint64_t owed() const { return consumed() - credited_; }
  /// So many that it has to be told, before it could run dry.
  bool owes_much() const { return owed() >= (static_cast<uint64_t>(geometry_.num_slots) + 1) / 2; }
  /// To be told now: the number of messages consumed.
  uint32_t settle() { return static_cast<uint32_t>(credited_ = consumed()); }

 private:
  // relaxed: the reader is this thread.
  uint64_t consumed() const { return reader_->released.load(std::memory_order_relaxed); }
  /// The number that `low` stands for, if that message may be under way.
  std::optional<uint64_t> number_of(uint32_t low) const {
    return number_within(low, consumed(), static_cast<uint64_t>(geometry_.num_slots));
  }

  const LinkGeometry geometry_;
  const uint32_t peers_number_;
  std::unique_ptr<std::byte[]> storage_;
  std::byte* memory_;
  Line* lines_;
  LinkReader* reader_;
  std::byte* slots_;
  Placer* placer_ = nullptr;
  uint64_t credited_ = 0;
  uint32_t begun_ = 0;                                  // messages that have room and are not there yet; bit number % 8
  std::array<uint32_t, kMaxLinkSlots> coming_bytes_{};  // of those
};

}  // namespace ringtree
