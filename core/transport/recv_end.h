// The receiving end of a link (link.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/processor.h"
#include "core/transport/placement.h"
#include "core/transport/send_end.h"
#include "core/transport/shared_table.h"

namespace ringtree {

/// The receiving end of one reader. Used by one lane of one rank.
template <class Policy, class Bell = Doorbell>
class BasicRecvEnd {
 public:
  using LineType = BasicLine<Policy>;
  using Reader = BasicLinkReader<Policy>;
  using Side = BasicExchangeSide<Policy>;
  using Back = BasicSendEnd<Policy, Bell>;

  /// `pool`: of an exchange link, else null; `own_links`: this rank's links that take slots from it. `peer`: the
  /// sender's rank; `shared`: its buffers that this rank has mapped, or null.
  BasicRecvEnd(LineType* lines, Reader* reader, const std::byte* slots, LinkGeometry geometry, Side* pool,
               const std::vector<Back*>* own_links, Bell* sender_bell, int peer, const SharedTable* shared, bool fenced)
      : lines_(lines),
        reader_(reader),
        slots_(slots),
        geometry_(geometry),
        pool_(pool),
        own_links_(own_links),
        num_slots_(pool ? pool->num_slots() : geometry.num_slots),
        sender_bell_(sender_bell),
        peer_(peer),
        shared_(shared),
        fenced_(fenced) {}

  bool has_message() {
    // seq_cst, pairs with the store in SendEnd::publish(): the message's bytes are there, and a look after
    // Doorbell::announce_sleep() is not taken before the announcement (acquire alone would allow that).
    flag_ = line().flag.load(std::memory_order_seq_cst);
    return MessageFlag::is_of(flag_, next_);
  }
  /// Whether the next message has come, is of this call and lies in its line: in one comparison, what has_message(),
  /// fingerprint() and locate() find.
  bool has_line_message(uint32_t fingerprint) {
    flag_ = line().flag.load(std::memory_order_seq_cst);  // as in has_message()
    return flag_ == MessageFlag::make(fingerprint, MessageFlag::kNoSlot, next_);
  }
  /// Whether what has_line_message() said no to is the next message all the same.
  bool has_other_message() const { return MessageFlag::is_of(flag_, next_); }
  const std::byte* line_data() const { return line().payload.data(); }
  /// Of the message that has_message() found.
  uint32_t fingerprint() const { return MessageFlag::fingerprint(flag_); }
  /// Finds its `bytes` bytes, which data() then gives. Nonsense: the peer named a place that does not exist.
  SharedTable::Found locate(size_t bytes) {
    const int slot = MessageFlag::slot(flag_);
    if (slot == MessageFlag::kNoSlot) {
      data_ = line().payload.data();
    } else if (slot < num_slots_) {
      data_ = slots_ + static_cast<size_t>(slot) * geometry_.slot_bytes;
    } else if (slot == MessageFlag::kPlaced && placement_) {
      data_ = placement_->place(ring_index());
    } else if ((slot == MessageFlag::kInPlace || slot == MessageFlag::kInPlaceToAnswer) && shared_) {
      SharedPlace place;
      std::memcpy(&place, line().payload.data(), sizeof place);
      return shared_->find(place, bytes, data_);
    } else {
      return SharedTable::Found::nonsense;
    }
    return SharedTable::Found::here;
  }
  const std::byte* data() const { return data_; }
  /// Of the message that has_message() found: its data may be written over with the result.
  bool may_answer() const { return MessageFlag::slot(flag_) == MessageFlag::kInPlaceToAnswer; }
  /// It brings no data: they lie where the reader's own operand lay. locate() knows no such place.
  bool is_answer() const { return MessageFlag::slot(flag_) == MessageFlag::kAnswer; }
  int slot_index() const { return MessageFlag::slot(flag_); }
  /// The data lie in a slot that becomes ours with the message.
  bool becomes_ours() const {
    return pool_ != nullptr && MessageFlag::slot(flag_) >= 0 && MessageFlag::slot(flag_) < num_slots_;
  }
  /// Of a link from another host, whose messages may be placed; else null. An address is never taken from a line.
  void set_placement(Placement* placement) { placement_ = placement; }
  Placement* placement() const { return placement_; }
  /// Nothing goes back over this plan's links to the sender.
  void set_one_way() { one_way_ = true; }
  /// Whether the slot becomes ours and its lines are worth fetching for writing. On AMD up to Zen 3 they are, unless
  /// the sender is far and the data are folded, or nothing goes back (docs/decisions/0034); on Zen 4 only where much
  /// goes one way to a core that is near (0044). Elsewhere plain reads are faster (0036). `chunk_bytes`: of the chunk
  /// that the message is a slice of.
  bool worth_fetching(bool folds, size_t chunk_bytes) const {
    constexpr size_t kMuch = size_t{2} << 20;
    if (!is_amd() || !becomes_ours() || is_streamed()) return false;
    if (is_amd_before_zen4()) return !((folds || one_way_) && pool_->distance().is_far());
    return one_way_ && chunk_bytes >= kMuch && !pool_->distance().is_far();
  }
  /// The data lie in a slot that was written around the caches.
  bool is_streamed() const { return MessageFlag::is_streamed(flag_); }

  /// A message with flags of its own (ll, ll128): its number and its slot.
  uint64_t next() const { return next_; }
  const std::byte* flagged_slot() const { return slots_ + ring_index() * geometry_.slot_bytes; }

  int64_t arrival_ns() const { return reader_->arrival_ns[ring_index()]; }
  int peer() const { return peer_; }

  /// The slot of the message becomes ours (exchange links; nothing else otherwise): what this rank sends next may go
  /// into it. `bytes`: the message's length. Before release().
  void take_slot(size_t bytes) {
    if (becomes_ours()) pool_->received(MessageFlag::slot(flag_), bytes);
  }

  /// The message is consumed. `shaped`, `now_ns`: emulated links only.
  void release(bool shaped, int64_t now_ns) {
    if (shaped) reader_->release_ns[ring_index()] = now_ns;
    if (pool_ && pool_->above_limit()) settle();
    ++next_;
    // seq_cst on a fenced link, else release: our loads from the slot come before the sender's next stores to it (pairs
    // with the load in SendEnd::refresh()), slots given back come before it, and on a fenced link it comes before the
    // look at the bell.
    publish_in(reader_->released, next_, fenced_);
    sender_bell_->ring();
  }

 private:
  size_t ring_index() const { return next_ & geometry_.slot_mask(); }
  LineType& line() const { return lines_[ring_index()]; }

  // Mostly the peer has consumed what we sent meanwhile, and nothing needs to go back.
  void settle() {
    for (Back* link : *own_links_) link->refresh();
    pool_->give_back();
  }

  LineType* lines_;
  Reader* reader_;
  const std::byte* slots_;
  LinkGeometry geometry_;
  Side* pool_;
  const std::vector<Back*>* own_links_;
  int num_slots_;
  Bell* sender_bell_;
  int peer_;
  const SharedTable* shared_;
  Placement* placement_ = nullptr;
  bool fenced_;
  bool one_way_ = false;
  uint64_t next_ = 0;  // messages released
  uint64_t flag_ = 0;  // of the message that was looked at last
  const std::byte* data_ = nullptr;
};

using RecvEnd = BasicRecvEnd<StdAtomics>;

}  // namespace ringtree
