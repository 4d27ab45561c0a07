// The books of one side of an exchange pool: which slot is sent next, which ones go back and when, and that whatever a
// peer may write does no harm. Two sides at work: test_exchange_traffic.cpp; in all orders that memory allows:
// tests/core/models.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/processor.h"
#include "tests/core/transport/exchange_world.h"

namespace ringtree::testing {
namespace {

constexpr size_t kLarge = kTestSlotBytes, kSmall = kInlineBytes;
constexpr size_t A = 0, B = 1;

/// Sends the next message of a link; the slot that it went into, or MessageFlag::kNoSlot.
int send(ExchangeWorld& world, size_t side, size_t link = 0, size_t bytes = kLarge) {
  SendEnd& end = *world.sides[side].send[link];
  EXPECT_TRUE(end.has_free_slot());
  write_words(end.room(bytes), bytes, side, link, end.next());
  const int slot = bytes > kInlineBytes ? end.slot_index() : MessageFlag::kNoSlot;
  end.publish(7, bytes, 0);
  return slot;
}

/// Consumes the next message of the peer's link; the slot that it lay in.
int receive(ExchangeWorld& world, size_t side, size_t link = 0, size_t bytes = kLarge) {
  RecvEnd& end = *world.sides[side].recv[link];
  EXPECT_TRUE(end.has_message());
  EXPECT_EQ(end.locate(bytes), SharedTable::Found::here);
  EXPECT_TRUE(words_are(end.data(), bytes, 1 - side, link, end.next()));
  const int slot = end.slot_index();
  end.take_slot(bytes);
  end.release(false, 0);
  return slot;
}

TEST(ExchangePool, gives_each_side_half_of_the_slots_and_room_for_all_messages_of_both) {
  for (const auto& num_links : {std::array{1, 1}, {1, 3}, {3, 2}}) {
    ExchangeWorld world(num_links);
    const int num_slots = 2 * (num_links[0] + num_links[1]) * 8;
    EXPECT_EQ(world.pool.num_slots, num_slots);
    for (size_t side : {A, B}) {
      EXPECT_EQ(world.sides[side].books->num_free(), num_slots / 2);
      for (int slot = 0; slot < num_slots; ++slot)
        EXPECT_EQ(world.sides[side].books->is_foreign(slot), (slot < num_slots / 2) == (side == B));
    }
  }
}

TEST(ExchangePool, lies_within_the_bytes_that_its_geometry_names) {
  for (int num_slots : {32, 48, kMaxPoolSlots}) {
    const PoolGeometry geometry{num_slots, 1 << 16};
    const size_t entries = static_cast<size_t>(num_slots) * sizeof(BasicReturnRing<StdAtomics>::Entry);
    EXPECT_GE(geometry.ring_bytes(), sizeof(BasicReturnRing<StdAtomics>) + entries);
    EXPECT_EQ(geometry.ring_bytes() % kLineBytes, 0u) << "two writers, so no line in common";
    EXPECT_EQ(geometry.slots_at() % kLineBytes, 0u);
    EXPECT_EQ(geometry.bytes(), geometry.slots_at() + (static_cast<size_t>(num_slots) << 16));
  }
}

TEST(ExchangePool, the_slot_released_last_is_sent_next) {
  ExchangeWorld world({2, 2});
  // B keeps what arrives and sends it back newest first, over whatever link.
  std::vector<int> arrived;
  for (int i = 0; i < 5; ++i) send(world, A, i % 2);
  for (int i = 0; i < 5; ++i) arrived.push_back(receive(world, B, i % 2));
  EXPECT_EQ(std::set<int>(arrived.begin(), arrived.end()).size(), 5u);
  for (size_t i = 5; i > 0; --i) EXPECT_EQ(send(world, B, i % 2), arrived[i - 1]);
}

TEST(ExchangePool, an_answer_leaves_in_the_slot_that_arrived) {
  ExchangeWorld world({1, 1});
  std::set<int> used;
  for (int round = 0; round < 100; ++round) {
    const int slot = send(world, A);
    used.insert(slot);
    RecvEnd& from = *world.sides[B].recv[0];
    SendEnd& to = *world.sides[B].send[0];
    ASSERT_TRUE(from.has_message() && to.has_free_slot());
    ASSERT_EQ(from.locate(kLarge), SharedTable::Found::here);
    EXPECT_TRUE(from.becomes_ours());
    EXPECT_EQ(from.worth_fetching(true, kLarge), is_amd_before_zen4()) << "docs/decisions/0036 and 0044";
    from.take_slot(kLarge);
    EXPECT_EQ(to.room(kLarge), from.data());
    EXPECT_EQ(to.slot_index(), slot);
    write_words(to.room(kLarge), kLarge, B, 0, to.next());
    to.publish(7, kLarge, 0);
    from.release(false, 0);
    EXPECT_EQ(receive(world, A), slot);
  }
  EXPECT_EQ(used.size(), 1u) << "its lines stay hot";
}

// What a short message leaves of a slot stays in the other core's caches: a long one would have to fetch it.
TEST(ExchangePool, messages_of_two_lengths_in_turn_keep_to_slots_of_their_own) {
  constexpr size_t kShort = kLarge / 2;
  ExchangeWorld world({1, 1});
  std::map<size_t, std::set<int>> slots;
  for (int round = 0; round < 100; ++round)
    for (const size_t bytes : {kLarge, kShort}) {
      const int sent[] = {send(world, A, 0, bytes), send(world, B, 0, bytes)};
      EXPECT_EQ(receive(world, A, 0, bytes), sent[B]);
      EXPECT_EQ(receive(world, B, 0, bytes), sent[A]);
      slots[bytes].insert(sent, sent + 2);
    }
  EXPECT_EQ(slots[kLarge].size(), 2u) << "one from each side at a time";
  EXPECT_EQ(slots[kShort].size(), 2u);
  for (const int slot : slots[kShort]) EXPECT_EQ(slots[kLarge].count(slot), 0u) << slot;
}

TEST(ExchangePool, a_slot_of_nearly_the_length_is_taken_before_a_cold_one) {
  ExchangeWorld world({1, 1});
  ExchangeSide& books = *world.sides[B].books;
  send(world, A);
  const int warm = receive(world, B);
  const auto chosen = [&](size_t bytes) {
    books.choose_slot(bytes);
    return books.next_slot();
  };
  EXPECT_EQ(chosen(kLarge), warm);
  EXPECT_EQ(chosen(kLarge - kLarge / 8), warm);
  EXPECT_NE(chosen(kLarge / 2), warm);
  EXPECT_EQ(chosen(kLarge), warm) << "what was chosen before does not matter";
}

TEST(ExchangePool, a_small_message_needs_no_slot) {
  ExchangeWorld world({1, 1});
  const int free_before = world.sides[A].books->num_free();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(send(world, A, 0, kSmall), MessageFlag::kNoSlot);
    EXPECT_EQ(receive(world, B, 0, kSmall), MessageFlag::kNoSlot);
  }
  EXPECT_EQ(world.sides[A].books->num_free(), free_before);
  EXPECT_EQ(world.sides[B].books->num_free(), free_before);
}

TEST(ExchangePool, foreign_slots_go_back_only_above_the_limit) {
  ExchangeWorld world({1, 1});
  for (int i = 0; i < 8; ++i) {
    send(world, A);
    receive(world, B);
  }
  EXPECT_EQ(world.num_given(B), 0u) << "as many as it may have messages under way";
  send(world, A);
  const int free_before = world.sides[B].books->num_free();
  receive(world, B);
  EXPECT_EQ(world.num_given(B), 1u);
  EXPECT_EQ(world.sides[B].books->num_free(), free_before) << "one came, one went";
}

TEST(ExchangePool, the_coldest_foreign_slots_go_back_and_home_slots_stay) {
  ExchangeWorld world({1, 1}, true, std::array{8, 2});
  std::vector<int> arrived;
  for (int i = 0; i < 5; ++i) {
    send(world, A);
    arrived.push_back(receive(world, B));
  }
  ASSERT_EQ(world.num_given(B), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(world.entries_of(B)[i], arrived[i]);
  // What B has: its home slots below, then the two hottest.
  EXPECT_EQ(send(world, B), arrived[4]);
  EXPECT_EQ(send(world, B), arrived[3]);
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(world.sides[B].books->is_foreign(send(world, B)));
}

TEST(ExchangePool, slots_that_came_back_are_sent_in_again) {
  ExchangeWorld world({1, 1});
  std::set<int> used;
  for (int i = 0; i < 1000; ++i) {  // one way, far more than there are slots
    used.insert(send(world, A));
    receive(world, B);
  }
  EXPECT_GE(world.num_given(B), 1000u - 16 - 8);
  for (int slot : used) EXPECT_FALSE(world.sides[A].books->is_foreign(slot)) << slot;
}

TEST(ExchangePool, foreign_slots_that_carry_messages_count_until_their_messages_are_consumed) {
  ExchangeWorld world({1, 1});
  const auto send_and_receive = [&](size_t from, size_t times) {
    for (size_t i = 0; i < times; ++i) send(world, from);
    for (size_t i = 0; i < times; ++i) receive(world, 1 - from);
  };
  send_and_receive(A, 8);
  for (int i = 0; i < 8; ++i) send(world, B);  // in the eight foreign slots
  for (int i = 0; i < 4; ++i) receive(world, A);
  for (int i = 0; i < 4; ++i) {
    send(world, A);
    receive(world, B);
  }
  EXPECT_EQ(world.num_given(B), 0u) << "four are known to be consumed when the limit is looked at";
  send(world, A);
  receive(world, B);
  EXPECT_EQ(world.num_given(B), 1u) << "four under way, four free here, and a ninth";
}

// --- a peer that writes nonsense: never out of bounds (sanitizers look), never for ever, and the books stay books ---

TEST(ExchangePoolNonsense, a_slot_that_does_not_exist_is_no_data) {
  ExchangeWorld world({1, 1});
  RecvEnd& end = *world.sides[B].recv[0];
  Line* const lines = reinterpret_cast<Line*>(world.sides[A].memory[0]);
  const int free_before = world.sides[B].books->num_free();
  for (int slot : {world.pool.num_slots, world.pool.num_slots + 1, 0x7fff, 0xfffd, 0xfffe}) {
    lines[0].flag.store(MessageFlag::make(7, slot, 0));
    ASSERT_TRUE(end.has_message());
    EXPECT_EQ(end.locate(kLarge), SharedTable::Found::nonsense) << slot;
    EXPECT_FALSE(end.becomes_ours());
    end.take_slot(kLarge);
    EXPECT_EQ(world.sides[B].books->num_free(), free_before);
  }
  lines[0].flag.store(MessageFlag::make(7, world.pool.num_slots - 1, 0));
  ASSERT_TRUE(end.has_message());
  EXPECT_EQ(end.locate(kLarge), SharedTable::Found::here);
}

TEST(ExchangePoolNonsense, one_slot_sent_again_and_again_does_not_overflow_the_books) {
  for (int slot : {3, 20}) {  // at home with A, with B
    ExchangeWorld world({1, 1});
    Line* const lines = reinterpret_cast<Line*>(world.sides[A].memory[0]);
    RecvEnd& end = *world.sides[B].recv[0];
    for (uint64_t m = 0; m < 200; ++m) {
      lines[m % 8].flag.store(MessageFlag::make(7, slot, m));
      ASSERT_TRUE(end.has_message());
      end.take_slot(kLarge);
      end.release(false, 0);
      ASSERT_LE(world.sides[B].books->num_free(), world.pool.num_slots);
    }
    for (int i = 0; i < 8; ++i) send(world, B);  // still able to go on
  }
}

TEST(ExchangePoolNonsense, slots_given_back_that_are_not_ours_or_too_many_are_ignored) {
  for (uint64_t num_given : {uint64_t{5}, uint64_t{32}, uint64_t{1000}, uint64_t{1} << 63, ~uint64_t{0}})
    for (uint16_t entry : {uint16_t{3}, uint16_t{20}, uint16_t{32}, uint16_t{0xffff}}) {
      ExchangeWorld world({1, 1});
      ExchangeSide& books = *world.sides[A].books;
      while (books.num_free() > 0) books.sent();  // as if all were under way
      for (int i = 0; i < world.pool.num_slots; ++i) world.entries_of(B)[i] = entry;
      world.ring_of(B)->num_given.store(num_given);
      for (int look = 0; look < 3; ++look) {
        const bool available = books.available();  // comes back soon
        ASSERT_LE(books.num_free(), world.pool.num_slots);
        // Only a slot that is at home here can have come back, and never more than there are.
        EXPECT_EQ(available, entry == 3 && num_given <= 32) << "entry " << entry << ", " << num_given << " given";
        if (available) {
          EXPECT_EQ(books.next_slot(), 3);
        }
      }
    }
}

TEST(ExchangePoolNonsense, a_released_counter_that_is_ahead_frees_no_more_than_was_sent) {
  ExchangeWorld world({1, 1});
  SendEnd& end = *world.sides[A].send[0];
  for (int i = 0; i < 8; ++i) send(world, A);
  EXPECT_FALSE(end.has_free_slot());
  for (uint64_t released : {uint64_t{9}, uint64_t{1} << 40, ~uint64_t{0}}) {
    world.reader_of(A, 0)->released.store(released);
    end.refresh();
    EXPECT_TRUE(end.has_free_slot());
  }
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(end.has_free_slot());
    world.sides[A].books->available();
    end.publish(7, kLarge, 0);
  }
  world.reader_of(A, 0)->released.store(3);  // backwards
  EXPECT_FALSE(end.has_free_slot());
}

}  // namespace
}  // namespace ringtree::testing
