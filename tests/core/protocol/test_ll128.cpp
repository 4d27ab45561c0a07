// The ll128 protocol: what is packed is what is unpacked, a message is there when its last line is and not before, and
// neither lines of earlier messages nor those of other calls are taken for it. In every order that memory allows:
// tests/core/models.
#include <algorithm>

#include "core/protocol/ll128.h"
#include "tests/core/protocol/flagged_messages.h"

namespace ringtree::testing {
namespace {

constexpr uint32_t kFingerprint = 0xfeedf00d;

struct Wire {
  static void pack(std::byte* slot, const std::byte* data, size_t bytes, const FlaggedMessage& message) {
    ll128::pack(slot, data, bytes, message);
  }
  static Arrival arrived(const std::byte* slot, size_t bytes, const FlaggedMessage& message, size_t& seen) {
    return ll128::arrived(slot, bytes, message, seen);
  }
  static void unpack(const std::byte* slot, std::byte* data, size_t bytes) { ll128::unpack(slot, data, bytes); }
};

Arrival look(GuardedSlot& slot, size_t bytes, const FlaggedMessage& message) {
  size_t seen = 0;
  return ll128::arrived(slot.data(), bytes, message, seen);
}

ll128::Line* lines_of(GuardedSlot& slot) { return reinterpret_cast<ll128::Line*>(slot.data()); }

void copy_line(GuardedSlot& to, GuardedSlot& from, size_t line) {
  lines_of(to)[line].payload = lines_of(from)[line].payload;
  lines_of(to)[line].flag.store(lines_of(from)[line].flag.load());
}

TEST(Ll128, gives_back_what_was_packed_at_every_size_and_alignment) {
  GuardedSlot slot;
  uint64_t number = 0;
  for (size_t bytes : interesting_sizes(Protocol::ll128))
    for (size_t offset : {0, 1, 3, 8, 56, 63}) {
      const FlaggedMessage message{number, kFingerprint, number % 2 == 0};
      std::vector<std::byte> source(offset + bytes), target(offset + bytes + 8, std::byte{0x77});
      const std::vector<std::byte> data = bytes_of(number, bytes);
      std::copy(data.begin(), data.end(), source.begin() + static_cast<std::ptrdiff_t>(offset));
      ll128::pack(slot.data(), source.data() + offset, bytes, message);
      size_t seen = 0;
      ASSERT_EQ(ll128::arrived(slot.data(), bytes, message, seen), Arrival::here) << bytes;
      EXPECT_EQ(seen, ll128::num_lines(bytes));
      ll128::unpack(slot.data(), target.data() + offset, bytes);
      EXPECT_TRUE(std::equal(data.begin(), data.end(), target.begin() + static_cast<std::ptrdiff_t>(offset)))
          << bytes << " bytes at " << offset;
      for (size_t i = 0; i < 8; ++i) EXPECT_EQ(target[offset + bytes + i], std::byte{0x77}) << "wrote behind the data";
      ASSERT_TRUE(slot.intact()) << bytes;
      ++number;
    }
}

TEST(Ll128, what_a_slot_carries_fits_it) {
  EXPECT_LE(ll128::num_lines(info_of(Protocol::ll128).slice_bytes) * sizeof(ll128::Line), kTestSlotBytes);
  EXPECT_EQ(ll128::num_lines(0), 1u) << "an empty message carries the order of the calls";
  EXPECT_EQ(ll128::num_lines(56), 1u);
  EXPECT_EQ(ll128::num_lines(57), 2u);
}

TEST(Ll128, a_message_is_not_there_while_any_line_of_it_is_missing) {
  for (size_t bytes : {0, 1, 56, 57, 112, 113, 560}) {
    const FlaggedMessage message{3, kFingerprint};
    const std::vector<std::byte> data = bytes_of(3, bytes);
    GuardedSlot whole;
    ll128::pack(whole.data(), data.data(), bytes, message);
    for (size_t missing = 0; missing < ll128::num_lines(bytes); ++missing) {
      GuardedSlot slot;
      for (size_t i = 0; i < ll128::num_lines(bytes); ++i)
        if (i != missing) copy_line(slot, whole, i);
      size_t seen = 0;
      for (int look = 0; look < 2; ++look) {
        EXPECT_EQ(ll128::arrived(slot.data(), bytes, message, seen), Arrival::not_yet) << missing;
        EXPECT_EQ(seen, missing) << "looks no further than the first missing line, and goes on there";
      }
      copy_line(slot, whole, missing);
      EXPECT_EQ(ll128::arrived(slot.data(), bytes, message, seen), Arrival::here) << missing;
    }
  }
}

TEST(Ll128, a_message_of_another_call_is_told_from_its_first_line) {
  for (size_t sent : {0, 40, 4000})
    for (size_t expected : {0, 40, 4000}) {
      GuardedSlot slot;
      const std::vector<std::byte> data = bytes_of(5, sent);
      ll128::pack(slot.data(), data.data(), sent, {5, kFingerprint});
      EXPECT_EQ(look(slot, expected, {5, kFingerprint + 1}), Arrival::of_another_call);
    }
}

// Each message is put into the slot line by line; before its last one nothing of what stood there before counts.
TEST(Ll128, lines_of_earlier_messages_never_count) {
  GuardedSlot slot, whole;
  for (uint64_t use = 0; use < 60; ++use) {
    const FlaggedMessage message{use * kMaxLinkSlots + 3, kFingerprint};  // of one slot; all are of one call
    const size_t bytes = use * 211 % 1000;
    const std::vector<std::byte> data = bytes_of(use, bytes);
    ll128::pack(whole.data(), data.data(), bytes, message);
    size_t seen = 0;
    for (size_t i = 0; i < ll128::num_lines(bytes); ++i) {
      ASSERT_EQ(ll128::arrived(slot.data(), bytes, message, seen), Arrival::not_yet) << "use " << use << ", line " << i;
      ASSERT_EQ(look(slot, 1000, message), Arrival::not_yet);
      copy_line(slot, whole, i);
    }
    ASSERT_EQ(ll128::arrived(slot.data(), bytes, message, seen), Arrival::here);
  }
}

// 32 bits of the number travel. A line that a large message wrote, or none ever, must neither stand for the line of the
// message that comes 2^32 later nor look like another call's, if all messages between were small.
TEST(Ll128, lines_that_are_as_old_as_the_number_in_the_flag_is_wide_never_count) {
  constexpr uint64_t kWidth = uint64_t{1} << 32;
  const size_t most = info_of(Protocol::ll128).slice_bytes;
  const std::vector<std::byte> data = bytes_of(0, most);
  for (uint64_t number : {uint64_t{0}, uint64_t{13}, kWidth - 8, kWidth - 1})
    for (bool written_before : {false, true}) {
      GuardedSlot slot;
      if (written_before) ll128::pack(slot.data(), data.data(), most, {number, kFingerprint});
      ll128::pack(slot.data(), data.data(), 0, {number + kWidth - kMaxLinkSlots, kFingerprint + 1});
      const FlaggedMessage late{number + kWidth, kFingerprint + 2};
      size_t seen = 0;
      ASSERT_EQ(ll128::arrived(slot.data(), most, late, seen), Arrival::not_yet) << number;
      ll128::pack(slot.data(), data.data(), 0, late);  // its first line
      for (size_t line = 1; line < ll128::num_lines(most); ++line) {
        seen = line;
        ASSERT_EQ(ll128::arrived(slot.data(), most, late, seen), Arrival::not_yet) << number << ", line " << line;
      }
      ll128::pack(slot.data(), data.data(), most, late);
      EXPECT_EQ(look(slot, most, late), Arrival::here);
    }
}

TEST(Ll128, numbers_may_pass_the_flag_s_width) {
  GuardedSlot slot;
  for (uint64_t number = (uint64_t{1} << 32) - 40; number < (uint64_t{1} << 32) + 40; number += kMaxLinkSlots) {
    const FlaggedMessage message{number, kFingerprint};
    const std::vector<std::byte> data = bytes_of(number, 100);
    EXPECT_EQ(look(slot, 100, message), Arrival::not_yet) << number;
    ll128::pack(slot.data(), data.data(), 100, message);
    EXPECT_EQ(look(slot, 100, message), Arrival::here) << number;
  }
}

TEST(Ll128, messages_arrive_whole_and_in_order_between_threads_that_sleep) {
  expect_messages_arrive_between_threads<Wire>(Protocol::ll128);
}

}  // namespace
}  // namespace ringtree::testing
