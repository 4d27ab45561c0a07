// One-way links: a FIFO of slots, multicast to several readers, content and order between threads, what travels with a
// message. Not here: what the bytes mean (core/protocol) and how links are announced (core/engine).
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>

#include "core/transport/fence.h"
#include "core/transport/link.h"
#include "tests/core/transport/aligned_bytes.h"

namespace ringtree::testing {
namespace {

// A link's memory with its ends, in this process. The bells are those of the sender and of each reader.
struct TestLink {
  explicit TestLink(int num_readers, bool fenced = true, NicClock* clock = nullptr, std::vector<bool> remote = {})
      : reader_bells(static_cast<size_t>(num_readers)) {
    geometry.num_readers = num_readers;
    geometry.slot_bytes = 1152;
    memory = aligned_bytes(geometry.bytes());
    construct_link(memory.get(), geometry);
    std::vector<ReaderRoute> routes;
    for (size_t i = 0; i < reader_bells.size(); ++i)
      routes.push_back({&reader_bells[i], i < remote.size() && remote[i]});
    const Nic nic = clock ? Nic(clock, 0, 1, 1e-3, 1e9) : Nic();
    send = std::make_unique<SendEnd>(make_send_end(memory.get(), geometry, {}, routes, fenced, nic));
    for (int i = 0; i < num_readers; ++i)
      recv.push_back(
          std::make_unique<RecvEnd>(make_recv_end(memory.get(), geometry, i, {}, &sender_bell, 7, nullptr, fenced)));
  }
  LinkGeometry geometry;
  AlignedBytes memory;
  Doorbell sender_bell;
  std::vector<Doorbell> reader_bells;
  std::unique_ptr<SendEnd> send;
  std::vector<std::unique_ptr<RecvEnd>> recv;
};

TEST(Link, is_empty_at_first_and_knows_its_peer) {
  TestLink link(1);
  EXPECT_FALSE(link.recv[0]->has_message());
  EXPECT_TRUE(link.send->has_free_slot());
  EXPECT_EQ(link.recv[0]->peer(), 7);
}

TEST(Link, holds_eight_messages_and_the_ninth_waits_for_the_first) {
  TestLink link(1);
  for (uint64_t m = 0; m < 8; ++m) {
    ASSERT_TRUE(link.send->has_free_slot()) << m;
    link.send->room(1)[0] = static_cast<std::byte>(m);
    link.send->publish(static_cast<uint32_t>(100 + m), 1, 0);
  }
  EXPECT_FALSE(link.send->has_free_slot());
  for (uint64_t m = 0; m < 8; ++m) {
    ASSERT_TRUE(link.recv[0]->has_message());
    ASSERT_EQ(link.recv[0]->locate(1), SharedTable::Found::here);
    EXPECT_EQ(link.recv[0]->data()[0], static_cast<std::byte>(m));
    EXPECT_EQ(link.recv[0]->fingerprint(), 100 + m) << "the fingerprint is the message's own";
    link.recv[0]->release(false, 0);
    EXPECT_TRUE(link.send->has_free_slot());
  }
  EXPECT_FALSE(link.recv[0]->has_message());
}

TEST(Link, a_multicast_slot_is_free_when_all_have_read_it) {
  TestLink link(3);
  for (uint64_t m = 0; m < 8; ++m) link.send->publish(static_cast<uint32_t>(m), 0, 0);
  for (int reader : {2, 0}) link.recv[static_cast<size_t>(reader)]->release(false, 0);
  EXPECT_FALSE(link.send->has_free_slot());
  link.recv[1]->release(false, 0);
  EXPECT_TRUE(link.send->has_free_slot());
  link.send->publish(8, 0, 0);
  EXPECT_FALSE(link.send->has_free_slot());
  link.recv[0]->release(false, 0);
  link.recv[0]->release(false, 0);
  EXPECT_FALSE(link.send->has_free_slot()) << "one reader far ahead frees nothing";
}

#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kMessages = 10'000;
#else
constexpr uint64_t kMessages = 100'000;
#endif

// The m-th message's words, so that a torn, lost, repeated or overwritten message shows.
uint64_t word(uint64_t message, size_t index) { return (message * 31 + index) * 0x9e3779b97f4a7c15u; }

void send_many(TestLink& link, bool fenced, size_t num_words) {
  for (uint64_t m = 0; m < kMessages; ++m) {
    if (!sleep_until(link.sender_bell, fenced, [&] { return link.send->has_free_slot(); })) return;
    std::byte* const room = link.send->room(num_words * sizeof(uint64_t));
    for (size_t i = 0; i < num_words; ++i) {
      const uint64_t value = word(m, i);
      std::memcpy(room + i * sizeof value, &value, sizeof value);
    }
    link.send->publish(static_cast<uint32_t>(m), num_words * sizeof(uint64_t), 0);
  }
}

// How many messages came, in order and whole.
uint64_t receive_many(TestLink& link, size_t reader, bool fenced, size_t num_words) {
  RecvEnd& end = *link.recv[reader];
  for (uint64_t m = 0; m < kMessages; ++m) {
    if (!sleep_until(link.reader_bells[reader], fenced, [&] { return end.has_message(); })) return m;
    if (end.locate(num_words * sizeof(uint64_t)) != SharedTable::Found::here || end.fingerprint() != m) return m;
    for (size_t i = 0; i < num_words; ++i) {
      uint64_t value;
      std::memcpy(&value, end.data() + i * sizeof value, sizeof value);
      if (value != word(m, i)) return m;
    }
    end.release(false, 0);
  }
  return kMessages;
}

TEST(Link, order_and_content_survive_many_messages_to_readers_that_sleep) {
  for (bool fenced : {true, false}) {
    if (!fenced && !can_fence_everybody()) continue;
    for (int num_readers : {1, 2})
      for (size_t num_words : {size_t{7}, size_t{143}, size_t{144}}) {  // a cache line, a whole line, a whole slot
        TestLink link(num_readers, fenced);
        std::vector<uint64_t> intact(static_cast<size_t>(num_readers), 0);
        std::vector<std::thread> readers;
        for (size_t r = 0; r < intact.size(); ++r)
          readers.emplace_back([&, r] { intact[r] = receive_many(link, r, fenced, num_words); });
        send_many(link, fenced, num_words);
        for (std::thread& reader : readers) reader.join();
        for (uint64_t count : intact)
          EXPECT_EQ(count, kMessages) << num_readers << " readers, " << num_words << " words, fenced " << fenced;
      }
  }
}

TEST(Link, up_to_1144_bytes_travel_in_the_line_and_more_in_the_slot) {
  for (size_t bytes : {0, 1, 52, 56, 57, 64, 256, 1140, 1144, 1145, 1148, 1152}) {
    TestLink link(1);
    const std::byte *const lines = link.memory.get(), *const slots = lines + link.geometry.slots_at();
    std::byte* const room = link.send->room(bytes);
    EXPECT_EQ(room, bytes <= 1144 ? lines + sizeof(uint64_t) : slots) << bytes;
    std::memset(room, 0x5a, bytes);
    link.send->publish(3, bytes, 0);
    ASSERT_TRUE(link.recv[0]->has_message()) << bytes;
    EXPECT_EQ(link.recv[0]->fingerprint(), 3u) << "the data did not run into the flag";
    ASSERT_EQ(link.recv[0]->locate(bytes), SharedTable::Found::here);
    EXPECT_EQ(link.recv[0]->data(), room);
    EXPECT_FALSE(link.recv[0]->becomes_ours()) << "slots of the link's own stay the sender's";
  }
}

TEST(Link, a_message_says_whether_its_slot_was_written_around_the_caches) {
  for (int slot : {0, 7, kMaxPoolSlots - 1}) {
    const uint64_t plain = MessageFlag::make(5, slot, 9),
                   streamed = MessageFlag::make(5, slot + MessageFlag::kStreamed, 9);
    EXPECT_EQ(MessageFlag::slot(plain), slot);
    EXPECT_EQ(MessageFlag::slot(streamed), slot);
    EXPECT_FALSE(MessageFlag::is_streamed(plain));
    EXPECT_TRUE(MessageFlag::is_streamed(streamed));
    EXPECT_TRUE(MessageFlag::is_of(streamed, 9));
    EXPECT_EQ(MessageFlag::fingerprint(streamed), 5u);
  }
  for (int mark : {MessageFlag::kNoSlot, MessageFlag::kInPlace, MessageFlag::kInPlaceToAnswer, MessageFlag::kAnswer}) {
    EXPECT_FALSE(MessageFlag::is_streamed(MessageFlag::make(5, mark, 9))) << mark;
    EXPECT_EQ(MessageFlag::slot(MessageFlag::make(5, mark, 9)), mark);
  }
}

TEST(Link, a_distance_is_what_most_of_eight_looks_say) {
  Distance distance;
  EXPECT_FALSE(distance.is_far()) << "until known";
  for (int i = 0; i < 4; ++i) distance.add(Distance::kFarNs);
  EXPECT_FALSE(distance.is_far());
  distance.add(1'000'000);  // five
  EXPECT_TRUE(distance.is_far());
  for (int i = 0; i < 3; ++i) distance.add(Distance::kFarNs - 1);
  EXPECT_TRUE(distance.is_far());
  distance.add(0);  // the first slow one is out
  EXPECT_FALSE(distance.is_far());
}

// A look counts only where it finds something new: else the line was in this core's caches already.
TEST(Link, looks_at_the_distance_once_when_it_was_told_to_and_finds_something_new) {
  TestLink link(1);
  const auto exchange = [&] {
    link.send->publish(1, 0, 0);
    ASSERT_TRUE(link.recv[0]->has_message());
    link.recv[0]->release(false, 0);
  };
  exchange();
  link.send->refresh();
  EXPECT_EQ(link.send->distance().num_looks(), 0u) << "nobody asked";
  link.send->look_at_distance();
  link.send->refresh();
  EXPECT_EQ(link.send->distance().num_looks(), 0u) << "nothing new";
  exchange();
  link.send->refresh();
  EXPECT_EQ(link.send->distance().num_looks(), 1u);
  exchange();
  link.send->refresh();
  EXPECT_EQ(link.send->distance().num_looks(), 1u) << "nobody asked again";
}

TEST(Link, of_several_readers_none_is_far) {
  TestLink link(2);
  for (int i = 0; i < 8; ++i) link.send->distance().add(1'000'000);
  EXPECT_FALSE(link.send->reader_is_far());
}

TEST(Link, a_slot_that_does_not_exist_is_no_data) {
  TestLink link(1);
  Line* const lines = reinterpret_cast<Line*>(link.memory.get());
  for (int slot : {8, 9, 0x7fff, 0xfffe}) {
    lines[0].flag.store(MessageFlag::make(7, slot, 0));
    ASSERT_TRUE(link.recv[0]->has_message());
    EXPECT_EQ(link.recv[0]->locate(64), SharedTable::Found::nonsense) << slot;
  }
}

TEST(Link, a_message_s_number_may_pass_every_width_that_carries_it) {
  TestLink link(1);
  for (uint64_t m = 0; m < 3 * 65'536 + 5; ++m) {  // 16 bits of it travel
    EXPECT_FALSE(link.recv[0]->has_message()) << m;
    link.send->publish(static_cast<uint32_t>(m), 0, 0);
    ASSERT_TRUE(link.recv[0]->has_message()) << m;
    link.recv[0]->release(false, 0);
    ASSERT_TRUE(link.send->has_free_slot()) << m;
  }
}

TEST(Link, stamps_say_when_a_message_arrives_and_when_its_slot_was_freed) {
  NicClock clock;
  TestLink link(2, true, &clock, {false, true});
  EXPECT_TRUE(link.send->crosses());
  EXPECT_FALSE(TestLink(2, true, &clock).send->crosses()) << "all readers on this host";
  EXPECT_EQ(link.send->slot_free_ns(), 0) << "never used";
  link.send->publish(1, 100, 5'000);
  EXPECT_EQ(link.recv[0]->arrival_ns(), 5'000) << "on the same emulated host";
  EXPECT_EQ(link.recv[1]->arrival_ns(), 5'000 + 100 + 1'000'000) << "100 bytes at 1 GB/s, then alpha";
  for (uint64_t m = 1; m < 8; ++m) link.send->publish(1, 0, 5'000);
  link.recv[0]->release(true, 6'000);
  link.recv[1]->release(true, 1'006'000);
  ASSERT_TRUE(link.send->has_free_slot());
  EXPECT_EQ(link.send->slot_free_ns(), 1'006'000) << "by the last of its readers";
}

TEST(Link, lies_within_the_bytes_that_its_geometry_names) {
  for (int num_readers : {1, 3, 255}) {
    const LinkGeometry geometry{num_readers, 8, 1 << 16};
    EXPECT_GE(geometry.slots_at(), geometry.readers_at() + static_cast<size_t>(num_readers) * sizeof(LinkReader));
    EXPECT_EQ(geometry.bytes(), geometry.slots_at() + (size_t{8} << 16));
    EXPECT_EQ(geometry.slots_at() % 64, 0u) << "slots begin on a cache line";
  }
}

}  // namespace
}  // namespace ringtree::testing
