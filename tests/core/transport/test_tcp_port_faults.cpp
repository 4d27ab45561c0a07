// What a port makes of a peer whose bytes are wrong, cut off or late. The test is the peer and writes the bytes itself.
// Nothing wrong may reach a reader, and every fault must be found and named. Healthy traffic: test_tcp_port.cpp.
#include <random>

#include "tests/core/transport/tcp_ends.h"

namespace ringtree::testing {
namespace {

void expect_corrupt(RawPeer& peer, const std::string& reason, const std::string& what) {
  const TcpFault fault = peer.fault();
  EXPECT_EQ(fault.peer, 1) << what;
  EXPECT_TRUE(fault.corrupt) << what << ": " << fault.reason;
  EXPECT_TRUE(contains(fault.reason, reason)) << what << ": " << fault.reason;
  EXPECT_FALSE(peer.receivers[0]->end->has_message()) << what;
}

TEST(TcpPortFaults, a_right_message_is_none) {
  RawPeer peer;
  const std::string bytes = RawPeer::bytes(RawPeer::frame(0, 0, 0, 100));
  peer.write(bytes);
  peer.let_it_read(bytes.size());
  EXPECT_TRUE(peer.port().faults().empty());
  EXPECT_TRUE(peer.receivers[0]->receive(100));
}

TEST(TcpPortFaults, a_flipped_bit_of_a_header_is_found_whichever_it_is) {
  const std::string right = RawPeer::bytes(RawPeer::frame(0, 0, 0, 100));
  for (size_t bit = 0; bit < 8 * kTcpHeaderBytes; ++bit) {
    RawPeer peer;
    std::string wrong = right;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ (1 << bit % 8));
    peer.write(wrong);
    expect_corrupt(peer, "damaged in transit or is not ringtree's", "bit " + std::to_string(bit));
  }
}

TEST(TcpPortFaults, a_flipped_bit_of_a_payload_is_found_if_it_carries_a_checksum) {
  for (const size_t size : {size_t{1}, kInlineBytes, size_t{100}, kTcpSlotBytes})
    for (const size_t at : {size_t{0}, size / 2, size - 1}) {
      RawPeer peer;
      std::string wrong = RawPeer::bytes(RawPeer::frame(0, 0, 0, size));
      wrong[kTcpHeaderBytes + at] = static_cast<char>(wrong[kTcpHeaderBytes + at] ^ 4);
      peer.write(wrong);
      expect_corrupt(peer, "CRC-32C", "byte " + std::to_string(at) + " of " + std::to_string(size));
    }
}

struct Wrong {
  const char* name;
  std::vector<TcpFrame> frames;
  const char* reason;
};

TcpFrame credit(uint32_t sequence, uint32_t link, uint32_t consumed) {
  return {TcpFrameType::credit, false, link, sequence, consumed, 0, 0, 0};
}

TEST(TcpPortFaults, frames_that_are_whole_but_cannot_be_are_found) {
  const auto frame = RawPeer::frame;
  TcpFrame huge = frame(0, 0, 0, 1);
  huge.bytes = 0xffffffff;
  const char* const kCannotBe = "an impossible message arrived";
  const std::vector<Wrong> all = {
      {"a gap", {frame(0, 0, 0, 8), frame(2, 0, 1, 8)}, "out of order"},
      {"not from the beginning", {frame(1, 0, 0, 8)}, "out of order"},
      {"replayed", {frame(0, 0, 0, 8), frame(0, 0, 0, 8)}, "out of order"},
      {"a message twice", {frame(0, 0, 0, 8), frame(1, 0, 0, 8)}, kCannotBe},
      {"no such link", {frame(0, 1, 0, 8)}, kCannotBe},
      {"a link far off", {frame(0, 0xffffffff, 0, 8)}, kCannotBe},
      {"too long", {frame(0, 0, 0, kTcpSlotBytes + 1)}, kCannotBe},
      {"far too long", {huge}, kCannotBe},
      {"outside the window", {frame(0, 0, 8, 8)}, kCannotBe},
      {"before the window", {frame(0, 0, 0xffffffff, 8)}, kCannotBe},
      {"a credit of no link", {credit(0, 0, 0)}, "a credit arrived"},
  };
  for (const Wrong& wrong : all) {
    SCOPED_TRACE(wrong.name);
    RawPeer peer;
    std::string bytes;
    for (const TcpFrame& each : wrong.frames) bytes += RawPeer::bytes(each);
    peer.write(bytes);
    const TcpFault fault = peer.fault();
    EXPECT_TRUE(fault.corrupt) << fault.reason;
    EXPECT_TRUE(contains(fault.reason, wrong.reason)) << fault.reason;
    // What was right before it has come, and nothing else.
    const uint64_t num_right = wrong.frames.size() - 1;
    while (peer.receivers[0]->receive(8)) continue;
    EXPECT_EQ(peer.receivers[0]->num_received(), num_right);
  }
}

TEST(TcpPortFaults, one_message_over_two_streams_at_once_is_found) {
  // Half of it over one, then the whole over the other: neither may write where the other one's message lies.
  RawPeer peer(2);
  const std::string bytes = RawPeer::bytes(RawPeer::frame(0, 0, 0, 1000));
  const std::string_view half = std::string_view(bytes).substr(0, 500);
  peer.write(half, 0);
  peer.let_it_read(half.size());
  ASSERT_TRUE(peer.port().faults().empty());
  peer.write(bytes, 1);
  EXPECT_TRUE(contains(peer.fault().reason, "an impossible message arrived")) << peer.fault().reason;
}

TEST(TcpPortFaults, credits_for_more_than_was_sent_are_found) {
  for (const uint32_t consumed : {4u, 0xffffffffu, 0x80000000u}) {
    RawPeer peer;
    LinkSender sender(7);
    const uint32_t number = peer.port().add_out(1, sender.memory.get(), sender.geometry, 0, *sender.end);
    ASSERT_TRUE(peer.port().accept(1, number, 0));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(sender.send(8));
    const Deadline deadline = patience();
    while (!peer.port().flushed() && !deadline.passed()) peer.port().progress();
    peer.write(RawPeer::bytes(credit(0, number, 3)));
    peer.let_it_read(kTcpHeaderBytes);
    ASSERT_TRUE(peer.port().faults().empty()) << peer.port().faults()[0].reason;
    peer.write(RawPeer::bytes(credit(1, number, consumed)));
    EXPECT_TRUE(contains(peer.fault().reason, "a credit arrived for messages that were never sent"))
        << consumed << ": " << peer.fault().reason;
    EXPECT_TRUE(peer.fault().corrupt);
  }
}

TEST(TcpPortFaults, random_bytes_are_found_and_write_nowhere) {
  constexpr unsigned kSeed = 20250801;
  std::printf("[ seed ] %u\n", kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 200; ++round) {
    RawPeer peer;
    std::string noise(kTcpHeaderBytes + random() % 500, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    peer.write(noise);
    expect_corrupt(peer, "", "round " + std::to_string(round));
  }
}

TEST(TcpPortFaults, an_end_is_told_from_an_end_in_the_middle_wherever_it_comes) {
  const std::string bytes = RawPeer::bytes(RawPeer::frame(0, 0, 0, 100));
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    RawPeer peer;
    peer.write(std::string_view(bytes).substr(0, cut));
    peer.sockets[0].reset();
    const TcpFault fault = peer.fault();
    EXPECT_FALSE(fault.corrupt) << cut;
    const bool between = cut == 0 || cut == bytes.size();
    EXPECT_EQ(fault.reason, between ? "the peer closed it" : "the peer closed it in the middle of a message") << cut;
    EXPECT_EQ(peer.receivers[0]->receive(100), cut == bytes.size()) << cut;
  }
}

TEST(TcpPortFaults, a_reset_is_told) {
  RawPeer peer;
  const linger at_once{1, 0};
  ASSERT_EQ(::setsockopt(peer.sockets[0].get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  peer.sockets[0].reset();
  EXPECT_TRUE(contains(peer.fault().reason, "Connection reset")) << peer.fault().reason;
  EXPECT_FALSE(peer.fault().corrupt);
}

TEST(TcpPortFaults, of_one_peer_are_told_once_and_leave_the_others_alone) {
  RawPeer peer(3);
  auto [ours, theirs] = tcp_pair();
  std::vector<Fd> sockets;
  sockets.push_back(std::move(ours));
  peer.port().add_peer(2, std::move(sockets));
  LinkReceiver other(0, *peer.port().add_in(2, {1, kMaxLinkSlots, kTcpSlotBytes}, 0).link);
  peer.sockets.clear();  // all three streams end
  peer.fault();
  const Deadline deadline = patience();
  const std::string message = RawPeer::bytes(RawPeer::frame(0, 0, 0, 1000));
  ASSERT_TRUE(write_all(theirs.get(), message, deadline));
  while (!other.end->has_message() && !deadline.passed()) peer.port().progress();
  EXPECT_TRUE(other.receive(1000));
  EXPECT_EQ(peer.port().faults().size(), 1u);
}

// Of every kind: none, in the line, in the slot, a credit between them; cut at each byte, and byte by byte.
TEST(TcpPortFaults, there_are_none_wherever_the_bytes_are_cut) {
  const size_t sizes[] = {0, 1, kInlineBytes, kInlineBytes + 1, 300};
  std::string all;
  uint32_t sequence = 0;
  for (uint32_t number = 0; number < std::size(sizes); ++number) {
    all += RawPeer::bytes(RawPeer::frame(sequence++, 0, number, sizes[number]));
    if (number == 2) all += RawPeer::bytes(credit(sequence++, 0, 0));
  }
  const size_t step = kSanitized ? 7 : 1;
  for (size_t cut = 0; cut <= all.size(); cut += step) {
    RawPeer peer;
    LinkSender sender(7);
    peer.port().add_out(1, sender.memory.get(), sender.geometry, 0, *sender.end);
    const auto pieces = cut == 0 ? all.size() : 2;
    for (size_t i = 0, at = 0; i < pieces; ++i) {
      const size_t until = cut == 0 ? i + 1 : i == 0 ? cut : all.size();
      peer.write(std::string_view(all).substr(at, until - at));
      peer.let_it_read(until);
      at = until;
    }
    ASSERT_TRUE(peer.port().faults().empty()) << "cut at " << cut << ": " << peer.port().faults()[0].reason;
    for (const size_t size : sizes) ASSERT_TRUE(peer.receivers[0]->receive(size)) << "cut at " << cut;
  }
}

// The peer has sent everything and is gone; credits to it are refused by its kernel, which must not cost what it sent.
TEST(TcpPortFaults, what_a_peer_sent_before_it_closed_is_read_though_nothing_can_be_sent_to_it) {
  constexpr int kLinks = 8;
  constexpr size_t kBytes = 700;  // all of it fits into the kernel, and is more than is read in two turns
  RawPeer peer(1, kLinks);
  std::string all;
  uint32_t sequence = 0;
  for (uint32_t link = 0; link < kLinks; ++link)
    for (uint32_t number = 0; number < kMaxLinkSlots; ++number)
      all += RawPeer::bytes(RawPeer::frame(sequence++, link, number, kBytes));
  peer.write(all);
  const Deadline deadline = patience();
  while (!all_acknowledged(peer.sockets[0].get()) && !deadline.passed()) continue;
  ASSERT_TRUE(all_acknowledged(peer.sockets[0].get()));
  peer.sockets[0].reset();
  const auto num_received = [&] {
    uint64_t sum = 0;
    for (const auto& receiver : peer.receivers) {
      while (receiver->receive(kBytes)) continue;
      sum += receiver->num_received();
    }
    return sum;
  };
  while (num_received() < kLinks * kMaxLinkSlots && peer.port().faults().empty() && !deadline.passed())
    peer.port().progress();
  EXPECT_EQ(num_received(), kLinks * kMaxLinkSlots);
  EXPECT_FALSE(peer.fault().corrupt) << peer.fault().reason;
  for (int i = 0; i < 10; ++i) peer.port().progress();
  EXPECT_TRUE(peer.port().flushed()) << "nobody waits for the credits";
}

}  // namespace
}  // namespace ringtree::testing
