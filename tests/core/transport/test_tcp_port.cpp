// Two ports and links between them over loopback TCP: what is sent comes, once, whole and in order, however many
// streams and links there are and however slow a reader is; sleeping and closing. Wrong and broken peers:
// test_tcp_port_faults.cpp.
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "tests/core/transport/tcp_ends.h"

namespace ringtree::testing {
namespace {

size_t num_open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

using Links = std::vector<std::unique_ptr<LinkOverPorts>>;

/// `num_links` in each direction.
Links links_both_ways(PortPair& pair, int num_links) {
  Links links;
  for (int i = 0; i < num_links; ++i)
    for (int from : {0, 1})
      links.push_back(std::make_unique<LinkOverPorts>(static_cast<uint64_t>(links.size()), pair.port(from), from,
                                                      pair.port(1 - from)));
  return links;
}

/// One turn of a link: sends and receives what it can of `num_messages`. True when all have come.
bool turn(LinkOverPorts& link, uint64_t num_messages) {
  while (link.sender.num_sent() < num_messages && link.sender.send(bytes_of(link.sender.num_sent()))) continue;
  while (link.receiver->num_received() < num_messages &&
         link.receiver->receive(bytes_of(link.receiver->num_received())))
    continue;
  return link.receiver->num_received() == num_messages;
}

/// Both ranks by turns, until every link has brought `num_messages`.
void expect_all_come(PortPair& pair, Links& links, uint64_t num_messages) {
  const Deadline deadline = patience();
  for (bool complete = false; !complete;) {
    complete = true;
    for (auto& link : links) complete &= turn(*link, num_messages);
    pair.port(0).progress();
    pair.port(1).progress();
    if (::testing::Test::HasFailure() || !pair.port(0).faults().empty() || !pair.port(1).faults().empty()) break;
    if (deadline.passed()) FAIL() << "not all has come in time";
  }
  pair.expect_no_faults();
}

/// What is under way comes to rest: neither port moves anything for long, and all that was sent was received.
void settle(PortPair& pair) {
  const Deadline deadline = patience();
  for (int idle = 0; idle < 200 && !deadline.passed(); ++idle) {
    if (pair.port(0).progress() || pair.port(1).progress() ||
        pair.port(0).bytes_sent() != pair.port(1).bytes_received() ||
        pair.port(1).bytes_sent() != pair.port(0).bytes_received())
      idle = 0;
  }
}

struct Shape {
  int num_streams, num_links, buffer_bytes;
  bool with_crc;
};

class TcpPortTraffic : public ::testing::TestWithParam<Shape> {};

TEST_P(TcpPortTraffic, comes_once_whole_and_in_order) {
  const Shape shape = GetParam();
  PortPair pair(shape.num_streams, shape.with_crc, shape.buffer_bytes);
  Links links = links_both_ways(pair, shape.num_links);
  const uint64_t num_all = kSanitized || shape.buffer_bytes ? 2'000 : 12'000;
  const uint64_t num_messages = num_all / static_cast<uint64_t>(shape.num_links);
  expect_all_come(pair, links, num_messages);
  settle(pair);
  EXPECT_TRUE(pair.port(0).flushed() && pair.port(1).flushed());
  uint64_t payload = 0;
  for (uint64_t m = 0; m < num_messages; ++m) payload += bytes_of(m);
  const uint64_t num_sent = num_messages * static_cast<uint64_t>(shape.num_links);
  const uint64_t least = static_cast<uint64_t>(shape.num_links) * payload + num_sent * kTcpHeaderBytes;
  for (int rank : {0, 1}) {
    EXPECT_GE(pair.port(rank).bytes_sent(), least);
    EXPECT_LE(pair.port(rank).bytes_sent(), least + num_sent * kTcpHeaderBytes);  // at most a credit a message
    EXPECT_EQ(pair.port(rank).bytes_received(), pair.port(1 - rank).bytes_sent());
  }
}

INSTANTIATE_TEST_SUITE_P(, TcpPortTraffic,
                         ::testing::Values(Shape{1, 1, 0, false}, Shape{1, 3, 0, true}, Shape{2, 3, 0, false},
                                           Shape{4, 1, 0, true}, Shape{4, 3, 0, false}, Shape{4, 50, 0, true},
                                           // So little that hardly a frame is sent or received in one piece.
                                           Shape{1, 2, 8'000, true}, Shape{4, 2, 8'000, true}),
                         [](const auto& one) {
                           return std::to_string(one.param.num_streams) + "_streams_" +
                                  std::to_string(one.param.num_links) + "_links" +
                                  (one.param.buffer_bytes ? "_small_buffers" : "") +
                                  (one.param.with_crc ? "_checked" : "");
                         });

TEST(TcpPort, numbers_of_messages_go_round) {
  // Past 2^16, where the flags in the lines begin again.
  PortPair pair(1);
  LinkOverPorts link(0, pair.port(0), 0, pair.port(1));
  const Deadline deadline = patience();
  constexpr uint64_t kMessages = 70'000;
  while (link.receiver->num_received() < kMessages && !deadline.passed() && !HasFailure()) {
    while (link.sender.num_sent() < kMessages && link.sender.send(8)) continue;
    pair.port(0).progress();
    pair.port(1).progress();
    while (link.receiver->receive(8)) continue;
  }
  EXPECT_EQ(link.receiver->num_received(), kMessages);
  pair.expect_no_faults();
}

TEST(TcpPort, one_that_stops_sending_looks_at_nobodys_memory_any_more) {
  PortPair pair(1, true, 4'096);  // a kernel's buffers that do not hold all of it
  LinkOverPorts link(7, pair.port(0), 0, pair.port(1));
  std::vector<std::byte> own = payload_of(7, 0, kTcpSlotBytes);
  const auto publish = [&] {
    if (!link.sender.end->has_free_slot()) return false;
    link.sender.end->publish_from(fingerprint_of(7, link.sender.num_sent()), own.data(), own.size());
    return true;
  };
  while (publish()) pair.port(0).progress();  // nobody receives
  ASSERT_LT(pair.port(0).bytes_sent(), kMaxLinkSlots * kTcpSlotBytes) << "some could leave, if the kernel took them";
  pair.port(0).stop_sending();
  const uint64_t sent = pair.port(0).bytes_sent();
  for (int i = 0; i < 100; ++i) {
    pair.port(1).progress();
    pair.port(0).progress();
  }
  EXPECT_EQ(pair.port(0).bytes_sent(), sent);
  EXPECT_GT(pair.port(1).bytes_received(), 0u);
}

TEST(TcpPort, nothing_leaves_before_the_reader_has_accepted) {
  PortPair pair(1);
  LinkSender sender(0);
  const uint32_t number = pair.port(0).add_out(1, sender.memory.get(), sender.geometry, 0, *sender.end);
  LinkReceiver receiver(0, *pair.port(1).add_in(0, sender.geometry, number).link);
  ASSERT_TRUE(sender.send(100));
  settle(pair);
  EXPECT_EQ(pair.port(0).bytes_sent(), 0u);
  EXPECT_FALSE(pair.port(0).flushed());
  EXPECT_FALSE(pair.port(0).accept(1, number + 1, 0));  // no such link
  EXPECT_FALSE(pair.port(0).accept(2, number, 0));      // no such peer
  EXPECT_TRUE(pair.port(0).accept(1, number, 0));
  settle(pair);
  EXPECT_TRUE(pair.port(0).flushed());
  EXPECT_TRUE(receiver.receive(100));
}

TEST(TcpPort, a_reader_that_does_not_consume_stops_its_link_and_no_other) {
  for (const int num_streams : {1, 4}) {
    PortPair pair(num_streams);
    LinkOverPorts stuck(0, pair.port(0), 0, pair.port(1)), other(1, pair.port(0), 0, pair.port(1));
    const auto fill = [&] {
      const Deadline deadline = patience();
      do {
        while (stuck.sender.send(kTcpSlotBytes)) continue;
        settle(pair);
      } while (stuck.sender.end->has_free_slot() && !deadline.passed());
    };
    fill();
    // Eight with the reader, and eight in the sender's own slots.
    EXPECT_EQ(stuck.sender.num_sent(), 16u);
    EXPECT_EQ(pair.port(1).bytes_received(), 8 * (kTcpHeaderBytes + kTcpSlotBytes));
    EXPECT_FALSE(pair.port(0).flushed());
    const Deadline deadline = patience();
    while (!turn(other, 1'000) && !deadline.passed()) {
      pair.port(0).progress();
      pair.port(1).progress();
    }
    EXPECT_EQ(other.receiver->num_received(), 1'000u);
    // It goes on as soon as the reader does.
    uint64_t num_received = 0;
    while (num_received < 16 && !deadline.passed()) {
      num_received += stuck.receiver->receive(kTcpSlotBytes);
      pair.port(0).progress();
      pair.port(1).progress();
    }
    EXPECT_EQ(num_received, 16u);
    settle(pair);
    EXPECT_TRUE(pair.port(0).flushed());
    pair.expect_no_faults();
  }
}

// Credits must come before the sender runs dry, also where that is soon.
TEST(TcpPort, links_of_fewer_slots_do_not_lock_up) {
  for (const int num_slots : {1, 2, 4}) {
    PortPair pair(1);
    LinkOverPorts link(0, pair.port(0), 0, pair.port(1), num_slots);
    const Deadline deadline = Deadline::after_seconds(10);
    while (!turn(link, 100) && !deadline.passed()) {
      pair.port(0).progress();
      pair.port(1).progress();
    }
    EXPECT_EQ(link.receiver->num_received(), 100u) << num_slots << " slots";
  }
}

TEST(TcpPort, two_threads_that_sleep_whenever_they_wait_miss_nothing) {
  for (const int num_streams : {1, 4}) {
    PortPair pair(num_streams);
    Links links = links_both_ways(pair, 2);
    constexpr uint64_t kMessages = kSanitized ? 500 : 3'000;
    bool complete[2] = {};
    // Each rank sends on its own links and reads the others'; message m of a link leaves once m - 1 of each has come.
    const auto play = [&](int rank) {
      const Deadline deadline = patience();
      for (uint64_t m = 0; m < kMessages; ++m) {
        for (size_t i = 0; i < links.size(); ++i)
          if (static_cast<int>(i % 2) == rank) {
            if (!links[i]->sender.send(bytes_of(m))) ADD_FAILURE() << "no slot";
          }
        for (size_t i = 0; i < links.size(); ++i) {
          if (static_cast<int>(i % 2) == rank) continue;
          while (!links[i]->receiver->receive(bytes_of(m))) {
            if (deadline.passed()) return;
            if (!pair.port(rank).progress()) pair.port(rank).sleep(now_ns() + 500'000'000);
          }
        }
      }
      while (!pair.port(rank).flushed() && !deadline.passed()) pair.port(rank).progress();
      complete[rank] = true;
    };
    const int64_t start_ns = now_ns();
    std::thread other(play, 1);
    play(0);
    other.join();
    EXPECT_TRUE(complete[0] && complete[1]);
    // Were a wake-up lost, each would cost half a second.
    std::printf("[ measured ] %d streams: %.0f ms\n", num_streams, static_cast<double>(now_ns() - start_ns) * 1e-6);
    pair.expect_no_faults();
  }
}

constexpr int64_t kSleepNs = 900'000'000, kSoonNs = 300'000'000;

/// How often this thread has given up its core by itself, which a busy machine does not change.
int64_t num_kernel_sleeps() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_nvcsw;
}
/// How long a sleep takes after `before`.
int64_t sleep_ns(TcpPort& port, const std::function<void()>& before) {
  while (port.progress()) continue;
  port.sleep(now_ns() + 5'000'000);  // what the kernel has told is taken
  while (port.progress()) continue;
  before();
  const int64_t start_ns = now_ns();
  port.sleep(start_ns + kSleepNs);
  return now_ns() - start_ns;
}
/// Whether it ends a sleep; it gets several tries, since the machine may be busy.
bool wakes(TcpPort& port, const std::function<void()>& before) {
  for (int i = 0; i < 4; ++i)
    if (sleep_ns(port, before) < kSoonNs) return true;
  return false;
}
/// A sleep may end early now and then.
bool sleeps(TcpPort& port) {
  for (int i = 0; i < 4; ++i)
    if (sleep_ns(port, [] {}) > kSoonNs) return true;
  return false;
}

TEST(TcpPort, sleep_ends_by_the_doorbell_by_data_by_an_end_and_by_time) {
  for (const int num_streams : {1, 4}) {
    RawPeer peer(num_streams);
    const int64_t sleeps_before = num_kernel_sleeps();
    peer.port().sleep(now_ns());
    EXPECT_EQ(num_kernel_sleeps(), sleeps_before) << "the time is over";
    EXPECT_TRUE(sleeps(peer.port())) << "nothing happened";
    EXPECT_TRUE(wakes(peer.port(), [&] { peer.end.bell.wake(); }));
    EXPECT_TRUE(sleeps(peer.port())) << "a ring counts once";
    uint32_t number = 0;
    EXPECT_TRUE(wakes(peer.port(), [&] {
      peer.write(RawPeer::bytes(RawPeer::frame(number, 0, number, 8)));
      ++number;
    }));
    while (peer.port().progress()) continue;
    EXPECT_TRUE(peer.receivers[0]->receive(8));
    EXPECT_TRUE(wakes(peer.port(), [&] { peer.sockets.clear(); }));
    EXPECT_EQ(peer.fault().reason, "the peer closed it");
    EXPECT_TRUE(sleeps(peer.port())) << "a stream that has ended keeps nobody awake";
  }
}

// The sender leaves as soon as its kernel has everything, while credits come that it does not read: it must not be
// reset, or the reader would lose what it has not read yet.
TEST(TcpPort, closing_after_a_drain_delivers_everything_though_credits_come_that_nobody_reads) {
  for (int round = 0; round < 20; ++round) {
    PortPair pair(1 + round % 2 * 3, false, round % 3 == 0 ? 8'000 : 0);
    std::vector<std::unique_ptr<LinkOverPorts>> links;
    constexpr uint64_t kLinks = 6;
    for (uint64_t i = 0; i < kLinks; ++i)
      links.push_back(std::make_unique<LinkOverPorts>(i, pair.port(0), 0, pair.port(1)));
    std::thread sender([&] {
      const Deadline deadline = patience();
      for (auto& link : links)
        for (int i = 0; i < kMaxLinkSlots; ++i) EXPECT_TRUE(link->sender.send(kTcpSlotBytes));
      while (!pair.port(0).flushed() && !deadline.passed()) pair.port(0).progress();
      for (int twice = 0; twice < 2; ++twice) {
        pair.port(0).drain();
        pair.port(0).close(TcpPort::Closing::at_once);
      }
    });
    const Deadline deadline = patience();
    uint64_t num_received = 0;
    while (num_received < kLinks * kMaxLinkSlots && !deadline.passed()) {
      pair.port(1).progress();
      for (auto& link : links) num_received += link->receiver->receive(kTcpSlotBytes);
    }
    sender.join();
    ASSERT_EQ(num_received, kLinks * kMaxLinkSlots)
        << "round " << round << ": " << (pair.port(1).faults().empty() ? "" : pair.port(1).faults()[0].reason);
  }
}

TEST(TcpPort, both_may_drain_and_close_at_once) {
  for (int round = 0; round < 10; ++round) {
    PortPair pair(2);
    LinkOverPorts there(0, pair.port(0), 0, pair.port(1)), back(1, pair.port(1), 1, pair.port(0));
    while (there.sender.send(kTcpSlotBytes) && back.sender.send(kTcpSlotBytes)) continue;
    const int64_t start_ns = now_ns();
    const auto leave = [&](int rank) {
      while (!pair.port(rank).flushed()) pair.port(rank).progress();
      pair.port(rank).drain();
      pair.port(rank).close(TcpPort::Closing::at_once);
    };
    std::thread other(leave, 1);
    leave(0);
    other.join();
    EXPECT_LT(now_ns() - start_ns, 5'000'000'000) << "it must not take its whole patience";
  }
}

TEST(TcpPort, closing_at_once_waits_for_nobody_and_leaves_no_descriptor) {
  const size_t before = num_open_descriptors();
  {
    RawPeer peer(4);
    LinkSender sender(0);
    ASSERT_TRUE(peer.port().accept(1, peer.port().add_out(1, sender.memory.get(), sender.geometry, 0, *sender.end), 0));
    while (sender.send(kTcpSlotBytes)) continue;
    peer.port().progress();
    const int64_t start_ns = now_ns();
    peer.port().close(TcpPort::Closing::at_once);
    EXPECT_LT(now_ns() - start_ns, 1'000'000'000);
    char byte;
    for (Fd& socket : peer.sockets) {
      ASSERT_TRUE(wait_for(socket.get(), POLLIN | POLLRDHUP, patience()));
      while (::recv(socket.get(), &byte, 1, 0) > 0) continue;
    }
    peer.port().close(TcpPort::Closing::at_once);
  }
  EXPECT_EQ(num_open_descriptors(), before);
}

}  // namespace
}  // namespace ringtree::testing
