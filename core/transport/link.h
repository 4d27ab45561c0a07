// The two ends of a one-way link: a FIFO of messages from one rank to one or several readers (a multicast message is
// gone when all have read it). What its memory looks like: link_memory.h. What a message's bytes mean is the protocol's
// business.
//
// How a sleeping peer is woken decides how a message is published. *Fenced* links store what they publish sequentially
// consistent, then look whether the peer sleeps: right where ranks share cores and sleep often. Links that are not
// fenced publish with release and look without waiting for the store to become visible; the sleeper pays instead, with
// a system call that fences all threads (doorbell.h): right where every rank has a core and hardly ever sleeps, as the
// fence would cost more than the message.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/base/processor.h"
#include "core/transport/distance.h"
#include "core/transport/doorbell.h"
#include "core/transport/exchange_pool.h"
#include "core/transport/link_memory.h"
#include "core/transport/nic.h"
#include "core/transport/placement.h"
#include "core/transport/shared_table.h"

namespace ringtree {

/// The last store of a message or of its release. Two stores, not one with an order that is chosen when it runs:
/// compilers make that the dearer of the two.
template <class Atomic, class Value>
void publish_in(Atomic& place, Value value, bool fenced) {
  if (fenced) {
    place.store(value, std::memory_order_seq_cst);
  } else {
    place.store(value, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler keeps the look at the bell behind it
  }
}

/// One reader of a link, as its sender sees it.
template <class Bell>
struct BasicReaderRoute {
  Bell* bell = nullptr;
  bool remote = false;  // on another emulated host
};
using ReaderRoute = BasicReaderRoute<Doorbell>;

/// The sending end. Used by one lane of one rank.
template <class Policy, class Bell = Doorbell>
class BasicSendEnd {
 public:
  using LineType = BasicLine<Policy>;
  using Reader = BasicLinkReader<Policy>;
  using Side = BasicExchangeSide<Policy>;

  /// `pool`: where an exchange link takes its slots, else null and the link has `slots` of its own.
  BasicSendEnd(LineType* lines, Reader* readers, std::byte* slots, LinkGeometry geometry,
               std::vector<BasicReaderRoute<Bell>> routes, Side* pool, bool fenced, Nic nic = {})
      : lines_(lines),
        readers_(readers),
        slots_(slots),
        geometry_(geometry),
        routes_(std::move(routes)),
        pool_(pool),
        fenced_(fenced),
        nic_(nic) {
    for (const auto& route : routes_) num_remote_ += route.remote ? 1 : 0;
  }

  /// True if the next message has a line and a slot.
  bool has_free_slot() {
    if (num_under_way() == geometry_.num_slots) {
      refresh();
      if (num_under_way() == geometry_.num_slots) return false;
    }
    return !pool_ || pool_->available();
  }

  /// The slot of the next message, an index.
  int slot_index() const { return pool_ ? pool_->next_slot() : static_cast<int>(ring_index()); }
  std::byte* slot() const { return slots_ + static_cast<size_t>(slot_index()) * geometry_.slot_bytes; }
  /// Whether the pool still has a slot: has_free_slot() may have been asked before another lane took one.
  bool still_has_slot() { return !pool_ || pool_->available(); }
  /// Where the next message's `bytes` bytes go: into its line or into its slot.
  std::byte* room(size_t bytes) {
    if (bytes <= kInlineBytes) return line().payload.data();
    if (pool_) pool_->choose_slot(bytes);
    return slot();
  }

  /// Hands the message to the readers. `start_ns` (when it leaves) matters to emulated clusters only. `streamed`: its
  /// slot was written around the caches, and the writer's fence (core/base/stream_copy.h) is behind it.
  void publish(uint32_t fingerprint, size_t bytes, int64_t start_ns, bool streamed = false) {
    if (nic_.shaped()) stamp_arrivals(bytes, start_ns);
    const int in_slot = bytes > kInlineBytes ? slot_index() : MessageFlag::kNoSlot;
    bytes_[ring_index()] = bytes;
    const uint64_t flag = MessageFlag::make(fingerprint, streamed ? in_slot + MessageFlag::kStreamed : in_slot, next_);
    // release: the message's bytes are there; pairs with the load in RecvEnd::has_message(). seq_cst on a fenced link:
    // it also comes before the look at the bell.
    publish_in(line().flag, flag, fenced_);
    if (pool_ && in_slot != MessageFlag::kNoSlot) {
      pool_->sent();
      if (pool_->is_foreign(in_slot)) in_foreign_ |= bit(next_);
    }
    ++next_;
    for (const auto& route : routes_) route.bell->ring();
  }
  /// The message is where it is, in memory that the readers have mapped. `may_answer`: its one reader may write there.
  void publish_in_place(uint32_t fingerprint, const SharedPlace& place, bool may_answer = false) {
    std::memcpy(line().payload.data(), &place, sizeof place);
    publish_mark(fingerprint, may_answer ? MessageFlag::kInPlaceToAnswer : MessageFlag::kInPlace);
  }
  /// The message lies there and stays as it is until all_consumed(). All readers are on other hosts.
  void publish_from(uint32_t fingerprint, const std::byte* data, size_t bytes) {
    own_[ring_index()] = {next_, {data, bytes}};
    publish_mark(fingerprint, MessageFlag::kInOwnMemory);
  }
  /// How long message `number` is, which is under way. For who carries it to another host (tcp_link.h); readers know. A
  /// length is never taken from a line: ranks of this host may have mapped it.
  size_t bytes_of(uint64_t number) const { return bytes_[number & geometry_.slot_mask()]; }
  /// Where message `number`, under way, lies; empty if it was not published from there. An address is never taken from
  /// a line: ranks of this host may have mapped it.
  std::span<const std::byte> own_memory_of(uint64_t number) const {
    const OwnMemory& own = own_[number & geometry_.slot_mask()];
    return own.number == number ? own.bytes : std::span<const std::byte>();
  }
  /// The message lies where each reader's own operand lay, whose message allowed that.
  void publish_answer(uint32_t fingerprint) { publish_mark(fingerprint, MessageFlag::kAnswer); }
  /// Whether the readers have consumed everything.
  bool all_consumed() {
    if (oldest_ != next_) refresh();
    return oldest_ == next_;
  }
  /// The message lies in its slot with flags of its own (ll, ll128): no line needed.
  void publish_flagged() {
    ++next_;
    for (const auto& route : routes_) route.bell->ring();
  }

  /// Messages published so far; the number of the next one.
  uint64_t next() const { return next_; }
  bool fenced() const { return fenced_; }
  /// Nothing comes back over this plan's links from whoever reads this one.
  void set_one_way() { one_way_ = true; }
  bool is_one_way() const { return one_way_; }
  /// Times the next look at what the reader has consumed: how far is its core? Reads the clock twice, so not for small
  /// messages.
  void look_at_distance() { looks_ = geometry_.num_readers == 1; }
  /// Whether the reader's core is known to be far. Of several readers none is.
  bool reader_is_far() { return geometry_.num_readers == 1 && distance().is_far(); }
  Distance& distance() { return pool_ ? pool_->distance() : distance_; }

  /// Looks how many messages the readers have consumed.
  void refresh() {
    const int64_t begin_ns = looks_ ? now_ns() : 0;
    uint64_t oldest = std::numeric_limits<uint64_t>::max();
    for (int i = 0; i < geometry_.num_readers; ++i) {
      // seq_cst, pairs with the store in RecvEnd::release(): the reader's loads from the slot come before our new
      // stores to it, and a look after Doorbell::announce_sleep() is not taken before the announcement (acquire alone
      // would allow that).
      const uint64_t released = readers_[i].released.load(std::memory_order_seq_cst);
      oldest = released < oldest ? released : oldest;
    }
    if (looks_ && oldest != oldest_) {  // else the line was here already
      distance().add_since(begin_ns);
      looks_ = false;
    }
    if (oldest > next_) oldest = next_;  // the peer wrote nonsense
    int num_foreign = 0;
    for (; oldest_ < oldest; ++oldest_) {
      num_foreign += (in_foreign_ & bit(oldest_)) != 0 ? 1 : 0;
      in_foreign_ &= ~bit(oldest_);
    }
    if (pool_) pool_->consumed(num_foreign);
  }

  /// Emulated: when the slot of the next message became free (0 for one never used).
  int64_t slot_free_ns() const {
    int64_t latest = 0;
    for (int i = 0; i < geometry_.num_readers; ++i) {
      const int64_t at = readers_[i].release_ns[ring_index()];
      latest = at > latest ? at : latest;
    }
    return latest;
  }
  /// Whether some reader lives on another emulated host, so that a message needs the network card.
  bool crosses() const { return num_remote_ > 0; }
  /// Asks the card of an emulated host to take the next message; see Nic::take().
  Nic::Grant take_card(size_t bytes, int64_t ready_ns, int64_t now) const {
    return nic_.take(bytes, num_remote_, ready_ns, now);
  }

 private:
  struct OwnMemory {
    uint64_t number = std::numeric_limits<uint64_t>::max();  // of the message
    std::span<const std::byte> bytes;
  };

  // As publish(): what lies at the place, also what was written there for a reader, comes before the flag.
  void publish_mark(uint32_t fingerprint, int mark) {
    publish_in(line().flag, MessageFlag::make(fingerprint, mark, next_), fenced_);
    ++next_;
    for (const auto& route : routes_) route.bell->ring();
  }

  size_t ring_index() const { return next_ & geometry_.slot_mask(); }
  LineType& line() const { return lines_[ring_index()]; }
  int num_under_way() const { return static_cast<int>(next_ - oldest_); }
  uint32_t bit(uint64_t message) const { return 1u << (message & geometry_.slot_mask()); }

  void stamp_arrivals(size_t bytes, int64_t start_ns) {
    int transmission = 0;
    for (int i = 0; i < geometry_.num_readers; ++i)
      readers_[i].arrival_ns[ring_index()] =
          routes_[static_cast<size_t>(i)].remote ? nic_.arrival_ns(start_ns, bytes, transmission++) : start_ns;
  }

  LineType* lines_;
  Reader* readers_;
  std::byte* slots_;
  LinkGeometry geometry_;
  std::vector<BasicReaderRoute<Bell>> routes_;
  Side* pool_;
  bool fenced_;
  Nic nic_;
  int num_remote_ = 0;
  uint64_t next_ = 0;    // messages published
  uint64_t oldest_ = 0;  // messages that all readers have released, when last looked
  bool one_way_ = false;
  bool looks_ = false;       // the next refresh() is timed
  Distance distance_;        // without a pool
  uint32_t in_foreign_ = 0;  // which of the messages under way lie in slots that are at home with the peer
  std::array<size_t, kMaxLinkSlots> bytes_{};  // of messages in a line or a slot
  std::array<OwnMemory, kMaxLinkSlots> own_;   // of links to other hosts
};

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
  /// Whether the slot becomes ours and its lines are worth fetching for writing: on AMD, unless the sender is far and
  /// the data are folded, or nothing goes back (docs/decisions/0034). Elsewhere plain reads are faster (0036).
  bool worth_fetching(bool folds) const {
    return becomes_ours() && is_amd() && !is_streamed() && !((folds || one_way_) && pool_->distance().is_far());
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

using SendEnd = BasicSendEnd<StdAtomics>;
using RecvEnd = BasicRecvEnd<StdAtomics>;

/// Where an end finds what it needs beside the link's own memory.
struct LinkPool {
  ExchangeSide* side = nullptr;  // null: the link has slots of its own
  std::byte* slots = nullptr;
  size_t slot_bytes = 0;
  std::vector<SendEnd*>* own_links = nullptr;
};

/// The ends of a link in memory that construct_link() made.
SendEnd make_send_end(std::byte* memory, const LinkGeometry& geometry, const LinkPool& pool,
                      std::vector<ReaderRoute> routes, bool fenced, Nic nic);
RecvEnd make_recv_end(std::byte* memory, const LinkGeometry& geometry, int reader_index, const LinkPool& pool,
                      Doorbell* sender_bell, int peer, const SharedTable* shared, bool fenced);

}  // namespace ringtree
