// The ll protocol: what is packed is what is unpacked, a message is there when its last word is and not before, and
// neither words of earlier messages nor those of other calls are taken for it. In every order that memory allows:
// tests/core/models.
#include <algorithm>

#include "core/protocol/ll.h"
#include "tests/core/protocol/flagged_messages.h"

namespace ringtree::testing {
namespace {

constexpr uint32_t kFingerprint = 0xfeedf00d;

struct Wire {
  static void pack(std::byte* slot, const std::byte* data, size_t bytes, const FlaggedMessage& message) {
    ll::pack(slot, kTestSlotBytes, data, bytes, message);
  }
  static Arrival arrived(const std::byte* slot, size_t bytes, const FlaggedMessage& message, size_t& seen) {
    return ll::arrived(slot, bytes, message, seen);
  }
  static void unpack(const std::byte* slot, std::byte* data, size_t bytes) { ll::unpack(slot, data, bytes); }
};

Arrival look(GuardedSlot& slot, size_t bytes, const FlaggedMessage& message) {
  size_t seen = 0;
  return ll::arrived(slot.data(), bytes, message, seen);
}

ll::Word* words_of(GuardedSlot& slot) { return reinterpret_cast<ll::Word*>(slot.data()); }

TEST(Ll, gives_back_what_was_packed_at_every_size_and_alignment) {
  GuardedSlot slot;
  uint64_t number = 0;
  for (size_t bytes : interesting_sizes(Protocol::ll))
    for (size_t offset : {0, 1, 2, 3, 4, 7}) {
      const FlaggedMessage message{number, kFingerprint, number % 2 == 0};
      std::vector<std::byte> source(offset + bytes), target(offset + bytes + 8, std::byte{0x77});
      const std::vector<std::byte> data = bytes_of(number, bytes);
      std::copy(data.begin(), data.end(), source.begin() + static_cast<std::ptrdiff_t>(offset));
      ll::pack(slot.data(), kTestSlotBytes, source.data() + offset, bytes, message);
      size_t seen = 0;
      ASSERT_EQ(ll::arrived(slot.data(), bytes, message, seen), Arrival::here) << bytes;
      EXPECT_EQ(seen, ll::num_words(bytes));
      ll::unpack(slot.data(), target.data() + offset, bytes);
      EXPECT_TRUE(std::equal(data.begin(), data.end(), target.begin() + static_cast<std::ptrdiff_t>(offset)))
          << bytes << " bytes at " << offset;
      for (size_t i = 0; i < 8; ++i) EXPECT_EQ(target[offset + bytes + i], std::byte{0x77}) << "wrote behind the data";
      ASSERT_TRUE(slot.intact()) << bytes;
      ++number;
    }
}

TEST(Ll, what_a_slot_carries_fits_it) {
  EXPECT_LE(ll::num_words(info_of(Protocol::ll).slice_bytes) * sizeof(ll::Word), kTestSlotBytes);
  EXPECT_EQ(ll::num_words(0), 1u) << "an empty message carries the order of the calls";
}

TEST(Ll, a_message_is_not_there_while_any_word_of_it_is_missing) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{4}, size_t{5}, size_t{64}, size_t{199}}) {
    const FlaggedMessage message{3, kFingerprint};
    const std::vector<std::byte> data = bytes_of(3, bytes);
    GuardedSlot whole;
    ll::pack(whole.data(), kTestSlotBytes, data.data(), bytes, message);
    for (size_t missing = 0; missing < ll::num_words(bytes); ++missing) {
      GuardedSlot slot;
      for (size_t i = 0; i < ll::num_words(bytes); ++i)
        if (i != missing) words_of(slot)[i].store(words_of(whole)[i].load());
      size_t seen = 0;
      for (int look = 0; look < 2; ++look) {
        EXPECT_EQ(ll::arrived(slot.data(), bytes, message, seen), Arrival::not_yet) << missing;
        EXPECT_EQ(seen, missing) << "looks no further than the first missing word, and goes on there";
      }
      words_of(slot)[missing].store(words_of(whole)[missing].load());
      EXPECT_EQ(ll::arrived(slot.data(), bytes, message, seen), Arrival::here) << missing;
    }
  }
}

TEST(Ll, a_message_of_another_call_is_told_from_its_first_word) {
  for (size_t sent : {0, 40, 4000})
    for (size_t expected : {0, 40, 4000}) {
      GuardedSlot slot;
      const std::vector<std::byte> data = bytes_of(5, sent);
      ll::pack(slot.data(), kTestSlotBytes, data.data(), sent, {5, kFingerprint});
      EXPECT_EQ(look(slot, expected, {5, kFingerprint + 1}), Arrival::of_another_call);
    }
}

// Each message is put into the slot word by word; before its last one nothing of what stood there before counts.
TEST(Ll, words_of_earlier_messages_never_count) {
  GuardedSlot slot, whole;
  for (uint64_t use = 0; use < 60; ++use) {
    const FlaggedMessage message{use * kMaxLinkSlots + 3, kFingerprint};  // of one slot; all are of one call
    const size_t bytes = use * 37 % 180;
    const std::vector<std::byte> data = bytes_of(use, bytes);
    ll::pack(whole.data(), kTestSlotBytes, data.data(), bytes, message);
    size_t seen = 0;
    for (size_t i = 0; i < ll::num_words(bytes); ++i) {
      ASSERT_EQ(ll::arrived(slot.data(), bytes, message, seen), Arrival::not_yet) << "use " << use << ", word " << i;
      ASSERT_EQ(look(slot, 180, message), Arrival::not_yet);
      words_of(slot)[i].store(words_of(whole)[i].load());
    }
    ASSERT_EQ(ll::arrived(slot.data(), bytes, message, seen), Arrival::here);
  }
}

// The flag has 32 bits. A word that a large message wrote must not stand for the one that comes 2^32 messages later, if
// all between were small.
TEST(Ll, words_that_are_as_old_as_the_flag_is_wide_never_count) {
  constexpr uint64_t kWidth = uint64_t{1} << 32, kBetweenCleanings = (uint64_t{1} << 24) * kMaxLinkSlots;
  const size_t most = info_of(Protocol::ll).slice_bytes;
  const std::vector<std::byte> data = bytes_of(0, most);
  for (uint64_t number : {uint64_t{0}, uint64_t{7}, uint64_t{13}, kBetweenCleanings - 3, kWidth - 8, kWidth - 1}) {
    GuardedSlot slot;
    ll::pack(slot.data(), kTestSlotBytes, data.data(), most, {number, kFingerprint});
    ASSERT_TRUE(ll::cleans({number % kMaxLinkSlots}));  // the slot's first use
    for (uint64_t between = number % kMaxLinkSlots; between < number + kWidth; between += kBetweenCleanings)
      if (between > number) {
        ASSERT_TRUE(ll::cleans({between}));
        ll::pack(slot.data(), kTestSlotBytes, data.data(), 0, {between, kFingerprint});
      }
    const FlaggedMessage late{number + kWidth, kFingerprint};
    for (size_t bytes : {size_t{0}, size_t{8}, most}) {
      for (size_t seen = 0; seen < ll::num_words(bytes); ++seen) {
        size_t from = seen;  // as if all before it had come
        ASSERT_EQ(ll::arrived(slot.data(), bytes, late, from), Arrival::not_yet) << number << ", word " << seen;
      }
    }
    ll::pack(slot.data(), kTestSlotBytes, data.data(), most, late);
    EXPECT_EQ(look(slot, most, late), Arrival::here);
    EXPECT_TRUE(slot.intact());
  }
}

TEST(Ll, numbers_may_pass_the_flag_s_width) {
  GuardedSlot slot;
  for (uint64_t number = (uint64_t{1} << 32) - 40; number < (uint64_t{1} << 32) + 40; number += kMaxLinkSlots) {
    const FlaggedMessage message{number, kFingerprint};
    const std::vector<std::byte> data = bytes_of(number, 100);
    EXPECT_EQ(look(slot, 100, message), Arrival::not_yet) << number;
    ll::pack(slot.data(), kTestSlotBytes, data.data(), 100, message);
    EXPECT_EQ(look(slot, 100, message), Arrival::here) << number;
  }
}

TEST(Ll, messages_arrive_whole_and_in_order_between_threads_that_sleep) {
  expect_messages_arrive_between_threads<Wire>(Protocol::ll);
}

}  // namespace
}  // namespace ringtree::testing
