// One-way links: a FIFO of slots, multicast to several readers, content and order between threads, what travels with a
// message. Not here: what the bytes mean (core/protocol) and how links are announced (core/engine).
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>

#include "core/base/clock.h"
#include "core/transport/link.h"

namespace ringtree {
namespace {

// A link's memory with its ends, in this process. The bells are those of the sender and of each reader.
struct TestLink {
  explicit TestLink(int num_readers, NicClock* clock = nullptr, std::vector<bool> remote = {})
      : reader_bells(static_cast<size_t>(num_readers)) {
    geometry.num_readers = num_readers;
    geometry.slot_bytes = 256;
    memory.reset(new (std::align_val_t{64}) std::byte[geometry.bytes()]());
    construct_link(memory.get(), geometry);
    std::vector<ReaderRoute> routes;
    for (size_t i = 0; i < reader_bells.size(); ++i)
      routes.push_back({&reader_bells[i], i < remote.size() && remote[i]});
    send = std::make_unique<SendEnd>(memory.get(), geometry, routes, clock ? Nic(clock, 0, 1, 1e-3, 1e9) : Nic());
    for (int i = 0; i < num_readers; ++i)
      recv.push_back(std::make_unique<RecvEnd>(memory.get(), geometry, i, &sender_bell, 7));
  }
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  LinkGeometry geometry;
  std::unique_ptr<std::byte[], Free> memory;
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
    link.send->slot()[0] = static_cast<std::byte>(m);
    link.send->publish(100 + m, 1, 0);
  }
  EXPECT_FALSE(link.send->has_free_slot());
  for (uint64_t m = 0; m < 8; ++m) {
    ASSERT_TRUE(link.recv[0]->has_message());
    EXPECT_EQ(link.recv[0]->slot()[0], static_cast<std::byte>(m));
    EXPECT_EQ(link.recv[0]->fingerprint(), 100 + m) << "the fingerprint is the message's own";
    link.recv[0]->release(false, 0);
    EXPECT_TRUE(link.send->has_free_slot());
  }
  EXPECT_FALSE(link.recv[0]->has_message());
}

TEST(Link, a_multicast_slot_is_free_when_all_have_read_it) {
  TestLink link(3);
  for (uint64_t m = 0; m < 8; ++m) link.send->publish(m, 0, 0);
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

// Sleeps as a rank does while `ready` is false; false if it takes longer than any machine needs.
template <typename Ready>
bool wait_for(Doorbell& bell, const Ready& ready) {
  const int64_t deadline_ns = now_ns() + 60'000'000'000;
  while (!ready()) {
    const uint32_t ticket = bell.announce_sleep();
    if (ready()) {
      bell.cancel_sleep();
      return true;
    }
    bell.sleep(ticket, deadline_ns);
    if (now_ns() >= deadline_ns) return false;
  }
  return true;
}

TEST(Link, order_and_content_survive_many_messages_to_readers_that_sleep) {
  constexpr size_t kWords = 32;  // a whole slot
  for (int num_readers : {1, 2}) {
    TestLink link(num_readers);
    std::vector<uint64_t> intact(static_cast<size_t>(num_readers), 0);
    std::vector<std::thread> readers;
    for (size_t r = 0; r < intact.size(); ++r)
      readers.emplace_back([&, r] {
        RecvEnd& end = *link.recv[r];
        for (uint64_t m = 0; m < kMessages; ++m) {
          if (!wait_for(link.reader_bells[r], [&] { return end.has_message(); })) return;
          uint64_t words[kWords];
          std::memcpy(words, end.slot(), sizeof words);
          bool same = end.fingerprint() == m;
          for (size_t i = 0; i < kWords; ++i) same = same && words[i] == word(m, i);
          intact[r] += same;
          end.release(false, 0);
        }
      });
    for (uint64_t m = 0; m < kMessages; ++m) {
      if (!wait_for(link.sender_bell, [&] { return link.send->has_free_slot(); })) break;
      uint64_t words[kWords];
      for (size_t i = 0; i < kWords; ++i) words[i] = word(m, i);
      std::memcpy(link.send->slot(), words, sizeof words);
      link.send->publish(m, sizeof words, 0);
    }
    for (std::thread& reader : readers) reader.join();
    for (uint64_t count : intact) EXPECT_EQ(count, kMessages) << num_readers << " readers";
  }
}

TEST(Link, stamps_say_when_a_message_arrives_and_when_its_slot_was_freed) {
  NicClock clock;
  TestLink link(2, &clock, {false, true});
  EXPECT_TRUE(link.send->crosses());
  EXPECT_FALSE(TestLink(2, &clock).send->crosses()) << "all readers on this host";
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
    EXPECT_GE(geometry.headers_at(), geometry.readers_at() + static_cast<size_t>(num_readers) * sizeof(LinkReader));
    EXPECT_GE(geometry.slots_at(), geometry.headers_at() + 8 * sizeof(SlotHeader));
    EXPECT_EQ(geometry.bytes(), geometry.slots_at() + (size_t{8} << 16));
    EXPECT_EQ(geometry.slots_at() % 64, 0u) << "slots begin on a cache line";
  }
}

}  // namespace
}  // namespace ringtree
