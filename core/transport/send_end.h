// The sending end of a link (link.h).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/transport/distance.h"
#include "core/transport/doorbell.h"
#include "core/transport/exchange_pool.h"
#include "core/transport/link_memory.h"
#include "core/transport/nic.h"
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
  bool has_free_slot() { return has_free_line() && (!pool_ || pool_->available()); }
  /// True if the next message has a line.
  bool has_free_line() {
    if (num_under_way() == geometry_.num_slots) refresh();
    return num_under_way() != geometry_.num_slots;
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
  /// room() and publish() of a message that surely lies in its line, on a link that is not emulated.
  std::byte* line_room() const { return line().payload.data(); }
  void publish_line(uint32_t fingerprint, size_t bytes) {
    bytes_[ring_index()] = bytes;
    publish_mark(fingerprint, MessageFlag::kNoSlot);
  }
  /// After a small message: looks what has been consumed before all lines are taken, while the sender waits for an
  /// answer anyway. Where none comes the look would only be in the way.
  void look_early() {
    if (!one_way_ && 2 * num_under_way() > geometry_.num_slots) refresh();
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

using SendEnd = BasicSendEnd<StdAtomics>;

}  // namespace ringtree
