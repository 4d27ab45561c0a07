// Slots that two ranks share who send to each other. A slot belongs to one side at a time, and its ownership travels
// with the message that it carries: a rank sends in a slot that it released lately, and a step that reduces what
// arrives and sends it back answers in the very slot that arrived. Its lines are then still in this core's cache,
// owned, and cross over once a message instead of twice. Of a slot that last carried a short message the rest is still
// in the other core's cache, so messages of different lengths keep to different slots (docs/decisions/0037).
//
// Nobody can be left without a slot. Each slot has a *home*, one of the two sides. Let H_X be the messages that side X
// may have under way at most: 8 a link. Each side is home to H_A + H_B slots and keeps
//
//     foreign slots that are free here or carry own messages not known to be consumed  <=  its own H
//
// by giving foreign slots back before it releases the message that would exceed it. Were A without a free slot while
// one of its links has fewer than 8 messages under way, then fewer than H_A of A's home slots carried A's messages, so
// more than H_B of them would be with B: a contradiction. Whoever sees that a message was consumed sees what was given
// back before. docs/decisions/0010 has the argument in full and what was tried first; tests/models check it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/transport/distance.h"
#include "core/transport/link_memory.h"

namespace ringtree {

inline constexpr int kMaxPoolSlots = 8192;
static_assert(kMaxPoolSlots < MessageFlag::kStreamed);

/// Slots of a pool over which one side has `links_a` links and the other `links_b`.
constexpr int pool_slots(int links_a, int links_b, int link_slots = kMaxLinkSlots) {
  return 2 * (links_a + links_b) * link_slots;
}

/// Slots that one side gave back to the other: one writer, one reader. It has room for all slots, and none is in it
/// twice, so it cannot overflow.
template <class Policy>
struct BasicReturnRing {
  using Entry = typename Policy::template Plain<uint16_t>;
  alignas(kLineBytes) typename Policy::template Atomic<uint64_t> num_given{0};
};

/// Geometry of a pool's memory: two return rings with their entries (of the lower and of the higher rank as giver),
/// then the slots: first those at home with the lower rank.
struct PoolGeometry {
  int num_slots = 0;
  size_t slot_bytes = 0;

  size_t ring_bytes() const {
    const size_t bytes = sizeof(BasicReturnRing<StdAtomics>) +
                         static_cast<size_t>(num_slots) * sizeof(BasicReturnRing<StdAtomics>::Entry);
    return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  }
  size_t slots_at() const { return 2 * ring_bytes(); }
  size_t bytes() const { return slots_at() + static_cast<size_t>(num_slots) * slot_bytes; }
};

/// Makes the objects of a zeroed pool memory. Called once, by the lower rank, before the other maps it.
void construct_pool(std::byte* memory, const PoolGeometry& geometry);

/// One side's books about the pool. Used by the one thread that runs this rank's plan.
template <class Policy>
class BasicExchangeSide {
 public:
  using Ring = BasicReturnRing<Policy>;
  using Entry = typename Ring::Entry;

  /// `own`, `peer`: the ring that this side writes, and the one that it reads. The slots [first_home, first_home +
  /// num_slots / 2) are at home here. `most_foreign`: messages that this side may have under way.
  BasicExchangeSide(Ring* own, Entry* own_entries, Ring* peer, Entry* peer_entries, int num_slots, int first_home,
                    int most_foreign)
      : own_(own),
        own_entries_(own_entries),
        peer_(peer),
        peer_entries_(peer_entries),
        num_slots_(num_slots),
        first_home_(first_home),
        most_foreign_(most_foreign),
        free_(static_cast<size_t>(num_slots)),
        hot_bytes_(static_cast<size_t>(num_slots)) {
    for (int i = num_slots / 2; i > 0; --i) push(first_home + i - 1, 0);
  }

  /// Whether there is a slot to send in.
  bool available() { return num_free_ > 0 || take_returned(); }
  /// Chooses the slot for a message of `bytes` bytes: of the slots released last, the one whose hot part is nearest in
  /// length. A cold one is preferred to one that is off by more than a quarter: lengths that take turns would pay for
  /// that every time, for the cold slot once. There must be a free slot.
  void choose_slot(size_t bytes) {
    constexpr int kLookAt = 8;
    size_t least = std::numeric_limits<size_t>::max();
    const int end = std::max(0, num_free_ - kLookAt);
    for (int i = num_free_ - 1; i >= end && least > 0; --i) {
      const size_t hot = hot_bytes_[free_[static_cast<size_t>(i)]];
      const size_t off = hot == 0 ? bytes / 4 : hot > bytes ? hot - bytes : bytes - hot;
      if (off >= least) continue;
      least = off;
      next_ = i;
    }
  }
  /// The slot that the next message goes into: the one chosen, or the one released last.
  int next_slot() const { return free_[static_cast<size_t>(next_)]; }
  /// next_slot() has left with a message.
  void sent() {
    std::copy(free_.begin() + next_ + 1, free_.begin() + num_free_, free_.begin() + next_);
    next_ = --num_free_ - 1;
  }
  /// The peer has consumed messages of ours that lay in `num_foreign` foreign slots.
  void consumed(int num_foreign) { num_foreign_ -= num_foreign; }
  /// A message's slot becomes this side's. The core has its first `bytes` bytes in its caches: the message's.
  void received(int slot, size_t bytes) {
    push(slot, bytes);
    num_foreign_ += is_foreign(slot) ? 1 : 0;
  }

  bool is_foreign(int slot) const { return slot < first_home_ || slot >= first_home_ + num_slots_ / 2; }
  bool above_limit() const { return num_foreign_ > most_foreign_; }
  /// Gives the coldest foreign slots back until the side is within its limit.
  void give_back() {
    int kept = 0;
    for (int i = 0; i < num_free_; ++i) {
      const uint16_t slot = free_[static_cast<size_t>(i)];
      if (!above_limit() || !is_foreign(slot)) {
        free_[static_cast<size_t>(kept++)] = slot;
        continue;
      }
      own_entries_[num_given_ % static_cast<uint64_t>(num_slots_)] = slot;
      --num_foreign_;
      // release: the entry is there; pairs with the load in take_returned().
      own_->num_given.store(++num_given_, std::memory_order_release);
    }
    num_free_ = kept;
    next_ = kept - 1;
  }

  /// How far the other side's core is, as this side's links have found.
  Distance& distance() { return distance_; }

  int num_slots() const { return num_slots_; }
  int num_free() const { return num_free_; }

 private:
  void push(int slot, size_t hot_bytes) {
    if (num_free_ == num_slots_) return;  // the peer wrote nonsense: it sent a slot twice
    hot_bytes_[static_cast<size_t>(slot)] = static_cast<uint32_t>(hot_bytes);
    next_ = num_free_;
    free_[static_cast<size_t>(num_free_++)] = static_cast<uint16_t>(slot);
  }

  bool take_returned() {
    // seq_cst, pairs with the release in give_back() of the other side; a look after Doorbell::announce_sleep() is not
    // taken before the announcement.
    const uint64_t given = peer_->num_given.load(std::memory_order_seq_cst);
    if (given - num_taken_ > static_cast<uint64_t>(num_slots_)) return num_free_ > 0;  // the peer wrote nonsense
    while (num_taken_ != given) {
      const uint16_t slot = peer_entries_[num_taken_ % static_cast<uint64_t>(num_slots_)];
      ++num_taken_;
      if (!is_foreign(slot)) push(slot, 0);  // else the peer wrote nonsense
    }
    return num_free_ > 0;
  }

  Ring* own_;
  Entry* own_entries_;
  Ring* peer_;
  Entry* peer_entries_;
  int num_slots_, first_home_, most_foreign_;
  int num_free_ = 0, num_foreign_ = 0;
  int next_ = -1;  // where the next message's slot stands in `free_`
  uint64_t num_given_ = 0, num_taken_ = 0;
  Distance distance_;
  std::vector<uint16_t> free_;       // a stack: the hottest slot is last
  std::vector<uint32_t> hot_bytes_;  // of each slot: how much this core's caches have, as far as is known
};

using ExchangeSide = BasicExchangeSide<StdAtomics>;

/// One side's books of a pool in memory. `is_lower`: this rank is the lower of the two. `own_links`: over which this
/// rank sends.
std::unique_ptr<ExchangeSide> exchange_side(std::byte* memory, const PoolGeometry& geometry, bool is_lower,
                                            int own_links);

}  // namespace ringtree
