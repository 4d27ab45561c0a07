// How a port spreads messages over the streams to one peer. That they all come is test_tcp_port.cpp's.
#include <sys/ioctl.h>

#include <numeric>

#include "tests/core/transport/tcp_ends.h"

namespace ringtree::testing {
namespace {

/// What lies in the test's end of a stream, once all has come that the port sent over all of them.
std::vector<size_t> unread(RawPeer& peer) {
  const Deadline deadline = patience();
  std::vector<size_t> sizes;
  for (size_t sum = 0; sum < peer.port().bytes_sent() && !deadline.passed();) {
    sizes.clear();
    for (const Fd& socket : peer.sockets) {
      int num_bytes = 0;
      if (::ioctl(socket.get(), FIONREAD, &num_bytes) != 0) throw std::runtime_error("the kernel does not say");
      sizes.push_back(static_cast<size_t>(num_bytes));
    }
    sum = std::accumulate(sizes.begin(), sizes.end(), size_t{0});
  }
  return sizes;
}

// The streams may lead over different cards. Credits that leave alone take no stream's turn: with two streams and a
// credit between any two messages all messages would go over one.
TEST(TcpPort, streams_carry_alike_however_few_messages_there_are_at_a_time) {
  for (const size_t num_streams : {1, 2, 3}) {
    RawPeer peer(static_cast<int>(num_streams));
    LinkSender sender(0);
    const uint32_t link = peer.port().add_out(1, sender.memory.get(), sender.geometry, 0, *sender.end);
    ASSERT_TRUE(peer.port().accept(1, link, 0));
    constexpr size_t kMessages = 18;
    uint32_t sequence = 0;
    uint64_t written = 0;
    const auto write = [&](const TcpFrame& frame) {
      written += RawPeer::bytes(frame).size();
      peer.write(RawPeer::bytes(frame));
      ++sequence;
    };
    for (uint32_t m = 0; m < kMessages; ++m) {
      ASSERT_TRUE(sender.send(kTcpSlotBytes));
      while (peer.port().progress()) continue;
      write({.type = TcpFrameType::credit, .link = link, .sequence = sequence, .number = m + 1});
      for (uint32_t i = 0; i < kMaxLinkSlots / 2; ++i) write(RawPeer::frame(sequence, 0, m * kMaxLinkSlots / 2 + i, 8));
      peer.let_it_read(written);
      while (peer.receivers[0]->receive(8)) continue;
      const uint64_t before = peer.port().bytes_sent();
      while (peer.port().progress()) continue;
      EXPECT_EQ(peer.port().bytes_sent(), before + kTcpHeaderBytes) << "a credit alone";
    }
    for (const size_t num_bytes : unread(peer))
      EXPECT_EQ(num_bytes / (kTcpHeaderBytes + kTcpSlotBytes), kMessages / num_streams) << num_streams << " streams";
    EXPECT_TRUE(peer.port().faults().empty());
  }
}

}  // namespace
}  // namespace ringtree::testing
