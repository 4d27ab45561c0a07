// The two stand-ins of a link to another host, without sockets: what leaves and when, what is let in, how slots come
// free. Over sockets: test_tcp_port.cpp.
#include <algorithm>
#include <deque>

#include "core/transport/tcp_link.h"
#include "tests/core/transport/tcp_ends.h"

namespace ringtree::testing {
namespace {

/// A link whose frames go from one end to the other in memory, when the test says so.
struct MemoryLink {
  explicit MemoryLink(int num_slots = kMaxLinkSlots, bool accepted = true)
      : sender(3, num_slots),
        out(sender.memory.get(), sender.geometry, 0, *sender.end),
        in(sender.geometry, 11),
        receiver(3, in) {
    if (accepted) out.accept(42);
  }
  /// All that may leave leaves; the kernel has it.
  void take_all() {
    while (out.may_leave()) {
      under_way.push_back(out.take(true));
      payloads.emplace_back(under_way.back().payload.begin(), under_way.back().payload.end());
      out.sent(under_way.back().number);
    }
  }
  /// The frame at `index` of those under way comes. False: refused.
  bool let_in(size_t index = 0) {
    const TcpFrame frame = under_way.at(index).frame;
    std::byte* const room = in.room_for(frame);
    if (!room) return false;
    if (!payloads[index].empty()) std::memcpy(room, payloads[index].data(), payloads[index].size());
    in.deliver(frame);
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(index));
    payloads.erase(payloads.begin() + static_cast<std::ptrdiff_t>(index));
    return true;
  }
  LinkSender sender;
  TcpOut out;
  TcpIn in;
  LinkReceiver receiver;
  std::deque<TcpOut::Message> under_way;
  std::deque<std::vector<std::byte>> payloads;
};

TEST(TcpLink, carries_messages_of_every_size_whole_and_in_order) {
  MemoryLink link;
  for (uint64_t m = 0; m < 500; ++m) {
    ASSERT_TRUE(link.sender.send(bytes_of(m)));
    link.take_all();
    ASSERT_EQ(link.under_way.size(), 1u);
    const TcpFrame& frame = link.under_way[0].frame;
    EXPECT_EQ(frame.link, 42u);
    EXPECT_EQ(frame.number, m);
    EXPECT_EQ(frame.bytes, bytes_of(m));
    EXPECT_EQ(frame.fingerprint, fingerprint_of(3, m));
    EXPECT_TRUE(frame.has_payload_crc);
    const auto payload = payload_of(3, m, bytes_of(m));
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), link.under_way[0].payload.begin()));
    EXPECT_EQ(frame.payload_crc, crc32c(link.payloads[0].data(), link.payloads[0].size()));
    ASSERT_TRUE(link.let_in());
    ASSERT_TRUE(link.receiver.receive(bytes_of(m)));
    if (link.in.owes_much()) {
      EXPECT_TRUE(link.out.credit(link.in.settle()));
    }
    EXPECT_TRUE(link.out.empty());
  }
  EXPECT_EQ(link.in.peers_number(), 11u);
}

TEST(TcpLink, small_messages_travel_in_the_line_and_larger_ones_in_the_slot) {
  for (const size_t bytes : {size_t{0}, kInlineBytes, kInlineBytes + 1, kTcpSlotBytes}) {
    MemoryLink link;
    ASSERT_TRUE(link.sender.send(bytes));
    const TcpOut::Message message = link.out.take(false);
    EXPECT_FALSE(message.frame.has_payload_crc);
    ASSERT_EQ(message.payload.size(), bytes);
    const std::byte* const slots = link.sender.memory.get() + link.sender.geometry.slots_at();
    const std::byte* const room = link.in.room_for(message.frame);
    ASSERT_NE(room, nullptr);
    EXPECT_EQ(room >= link.in.memory() + link.sender.geometry.slots_at(), bytes > kInlineBytes) << bytes;
    EXPECT_EQ(message.payload.data() >= slots, bytes > kInlineBytes) << bytes;
  }
}

TEST(TcpLink, nothing_leaves_before_the_reader_has_accepted) {
  MemoryLink link(kMaxLinkSlots, false);
  ASSERT_TRUE(link.sender.send(8));
  EXPECT_FALSE(link.out.may_leave());
  EXPECT_FALSE(link.out.empty());
  link.out.accept(0);  // a number like any other
  ASSERT_TRUE(link.out.may_leave());
  EXPECT_EQ(link.out.take(false).frame.link, 0u);
}

TEST(TcpLink, no_more_are_under_way_than_the_reader_has_room_for) {
  for (const int num_slots : {1, 2, 8}) {
    MemoryLink link(num_slots);
    const auto window = static_cast<uint64_t>(num_slots);
    while (link.sender.send(1'000)) link.take_all();
    // As many with the reader, as many in the sender's own memory.
    EXPECT_EQ(link.under_way.size(), window);
    EXPECT_EQ(link.sender.num_sent(), 2 * window);
    EXPECT_FALSE(link.out.may_leave());
    for (uint64_t i = 0; i < window; ++i) ASSERT_TRUE(link.let_in());
    EXPECT_FALSE(link.out.may_leave()) << "it is there, but not consumed";
    ASSERT_TRUE(link.receiver.receive(1'000));
    EXPECT_FALSE(link.out.may_leave()) << "and the sender does not know";
    EXPECT_EQ(link.in.owed(), 1u);
    EXPECT_EQ(link.in.owes_much(), num_slots <= 2);
    EXPECT_TRUE(link.out.credit(link.in.settle()));
    EXPECT_EQ(link.in.owed(), 0u);
    link.take_all();
    EXPECT_EQ(link.under_way.size(), 1u);
  }
}

TEST(TcpLink, what_lies_in_the_senders_own_memory_leaves_from_there_in_its_turn) {
  MemoryLink link;
  const std::vector<std::byte> own = payload_of(3, 1, 1'000);
  ASSERT_TRUE(link.sender.send(1'000));
  link.sender.end->publish_from(fingerprint_of(3, 1), own.data(), own.size());
  ASSERT_TRUE(link.sender.send(1'000));
  std::vector<uint64_t> taken;
  for (uint64_t m = 0; m < 3; ++m) {
    const TcpOut::Message message = link.out.take(true);
    EXPECT_EQ(message.payload.data() == own.data(), m == 1);
    EXPECT_EQ(message.frame.payload_crc, crc32c(payload_of(3, m, 1'000).data(), 1'000));
    link.under_way.push_back(message);
    link.payloads.emplace_back(message.payload.begin(), message.payload.end());
    taken.push_back(message.number);
  }
  link.out.sent(taken[0]);
  EXPECT_FALSE(link.sender.end->all_consumed()) << "the memory is still needed";
  link.out.sent(taken[2]);
  link.out.sent(taken[1]);
  EXPECT_TRUE(link.sender.end->all_consumed());
  for (int m = 0; m < 3; ++m) {
    ASSERT_TRUE(link.let_in());
    EXPECT_TRUE(link.receiver.receive(1'000));
  }
}

TEST(TcpLink, nobody_on_the_same_host_takes_a_message_for_who_carries_it_away) {
  LinkSender sender(3);
  const SharedTable shared;  // of a place in it a reader would say: not yet
  RecvEnd reader = make_recv_end(sender.memory.get(), sender.geometry, 0, {}, &sender.reader_bell, 1, &shared, true);
  const std::vector<std::byte> own = payload_of(3, 0, 1'000);
  sender.end->publish_from(fingerprint_of(3, 0), own.data(), own.size());
  ASSERT_TRUE(reader.has_message());
  EXPECT_EQ(reader.locate(1'000), SharedTable::Found::nonsense);
}

// Ranks of the sender's host may have the link's memory mapped, and write there.
TEST(TcpLink, nothing_that_a_line_says_makes_the_sender_read_beyond_its_slot) {
  MemoryLink link;
  Line* const lines = reinterpret_cast<Line*>(link.sender.memory.get());
  const std::vector<std::byte> own = payload_of(3, 0, 2'000);
  link.sender.end->publish_from(fingerprint_of(3, 0), own.data(), own.size());
  EXPECT_EQ(std::count(lines[0].payload.begin(), lines[0].payload.end(), std::byte{0}), kInlineBytes)
      << "an address would leave with the next small message";
  EXPECT_EQ(link.out.take(true).payload.size(), 2'000u);
  link.out.sent(0);
  ASSERT_TRUE(link.sender.send(2'000));
  const size_t far_too_many = size_t{1} << 40;
  std::memcpy(lines[1].payload.data(), &far_too_many, sizeof far_too_many);
  EXPECT_EQ(link.out.take(true).payload.size(), 2'000u);
  link.out.sent(1);
  ASSERT_TRUE(link.sender.send(2'000));
  lines[2].flag = MessageFlag::make(0, MessageFlag::kNoSlot, 2);
  EXPECT_EQ(link.out.take(true).payload.size(), kInlineBytes) << "the line's end";
  link.out.sent(2);
  ASSERT_TRUE(link.sender.send(2'000));
  lines[3].flag = MessageFlag::make(0, MessageFlag::kInOwnMemory, 3);
  EXPECT_TRUE(link.out.take(true).payload.empty()) << "it was not published from there";
}

TEST(TcpLink, slots_are_free_once_the_kernel_has_what_lay_in_them_in_whatever_order) {
  MemoryLink link;
  for (int i = 0; i < kMaxLinkSlots; ++i) ASSERT_TRUE(link.sender.send(100));
  EXPECT_FALSE(link.sender.end->has_free_slot());
  std::vector<uint64_t> taken;
  for (int i = 0; i < kMaxLinkSlots; ++i) taken.push_back(link.out.take(false).number);
  EXPECT_FALSE(link.sender.end->has_free_slot());
  for (const size_t i : {3, 1, 2, 7}) link.out.sent(taken[i]);
  EXPECT_FALSE(link.sender.end->has_free_slot()) << "the oldest has not left";
  link.out.sent(taken[0]);
  int num_free = 0;
  while (link.sender.send(100)) ++num_free;
  EXPECT_EQ(num_free, 4);  // 0 to 3
  EXPECT_FALSE(link.out.empty());
  for (const size_t i : {6, 5, 4}) link.out.sent(taken[i]);
  while (link.sender.send(100)) ++num_free;
  EXPECT_EQ(num_free, 8);
}

TEST(TcpLink, messages_may_overtake_one_another_on_the_way) {
  MemoryLink link;
  for (uint64_t m = 0; m < 6; ++m) ASSERT_TRUE(link.sender.send(bytes_of(m)));
  link.take_all();
  ASSERT_TRUE(link.let_in(5));
  ASSERT_TRUE(link.let_in(2));
  EXPECT_FALSE(link.receiver.end->has_message());
  ASSERT_TRUE(link.let_in(0));
  EXPECT_TRUE(link.receiver.receive(bytes_of(0)));
  EXPECT_FALSE(link.receiver.end->has_message());
  while (!link.under_way.empty()) ASSERT_TRUE(link.let_in(link.under_way.size() - 1));
  for (uint64_t m = 1; m < 6; ++m) EXPECT_TRUE(link.receiver.receive(bytes_of(m)));
}

TEST(TcpLink, what_cannot_come_has_no_room) {
  MemoryLink link;
  TcpFrame frame;
  const auto has_room = [&](uint32_t number, size_t bytes) {
    frame.number = number;
    frame.bytes = static_cast<uint32_t>(bytes);
    return link.in.room_for(frame) != nullptr;
  };
  EXPECT_FALSE(has_room(0, kTcpSlotBytes + 1));
  EXPECT_FALSE(has_room(0, 0xffffffff));
  EXPECT_FALSE(has_room(8, 10));
  EXPECT_FALSE(has_room(0xffffffff, 10));
  EXPECT_TRUE(has_room(7, kTcpSlotBytes));
  EXPECT_FALSE(has_room(7, 10)) << "it is coming already";
  link.in.deliver(frame);
  EXPECT_FALSE(has_room(7, 10)) << "it is there";
  for (uint32_t number = 0; number < 7; ++number) {
    ASSERT_TRUE(has_room(number, 0));
    link.in.deliver(frame);
  }
  // Consumed up to 2: the window is 3 to 10, and what was is not once more.
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(link.receiver.end->has_message());
    link.receiver.end->release(false, 0);
  }
  for (const uint32_t number : {0u, 2u, 3u, 7u, 11u}) EXPECT_FALSE(has_room(number, 10)) << number;
  for (const uint32_t number : {8u, 9u, 10u}) EXPECT_TRUE(has_room(number, 10)) << number;
}

TEST(TcpLink, credits_that_cannot_be_are_refused_and_old_ones_change_nothing) {
  MemoryLink link;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(link.sender.send(8));
  EXPECT_FALSE(link.out.credit(1)) << "nothing has left";
  EXPECT_TRUE(link.out.credit(0));
  link.take_all();
  EXPECT_FALSE(link.out.credit(6));
  EXPECT_FALSE(link.out.credit(0xffffffff));
  EXPECT_TRUE(link.out.credit(4));
  // With several streams an older credit may come later; it must not widen the window.
  EXPECT_TRUE(link.out.credit(2));
  EXPECT_TRUE(link.out.credit(4));
  for (const uint32_t nonsense : {6u, 0xffffffffu, 0x80000000u}) EXPECT_FALSE(link.out.credit(nonsense)) << nonsense;
  while (link.sender.send(8)) link.take_all();
  EXPECT_EQ(link.under_way.size(), 12u);  // 4 that were consumed, and 8
}

// Nobody waits for 2^32 messages in a test: this is what both ends reckon with.
TEST(TcpLink, numbers_are_told_modulo_two_to_the_32) {
  const uint64_t round = uint64_t{1} << 32;
  for (const uint64_t first :
       {uint64_t{0}, uint64_t{5}, round - 8, round - 3, round, round + 1, 7 * round - 1, 9 * round + 12}) {
    for (uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{8}}) {
      for (uint64_t number = first; number < first + count; ++number)
        EXPECT_EQ(number_within(static_cast<uint32_t>(number), first, count), number) << first;
      for (const uint64_t number : {first + count, first + count + 1, first + round - 1, first + round / 2})
        EXPECT_EQ(number_within(static_cast<uint32_t>(number), first, count), std::nullopt) << first << ", " << number;
    }
  }
}

}  // namespace
}  // namespace ringtree::testing
