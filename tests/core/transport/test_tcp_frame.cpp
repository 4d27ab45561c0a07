// The header of a frame: what survives the round trip, and that nothing else is taken for one. Frames on sockets:
// test_tcp_port_faults.cpp.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "core/base/crc32c.h"
#include "core/transport/tcp_frame.h"

namespace ringtree::testing {
namespace {

TcpFrame random_frame(std::mt19937& random) {
  TcpFrame frame;
  const auto number = [&] { return static_cast<uint32_t>(random() % 3 ? random() : random() % 2 ? 0 : 0xffffffff); };
  frame.type = random() % 2 ? TcpFrameType::message : TcpFrameType::credit;
  frame.link = number();
  frame.sequence = number();
  frame.number = number();
  frame.fingerprint = number();
  frame.payload_crc = number();
  if (frame.type == TcpFrameType::credit) return frame;
  frame.has_payload_crc = random() % 2;
  frame.bytes = number();
  return frame;
}

/// With a header CRC that fits whatever is in it: what a faulty sender, not a faulty wire, would send.
TcpHeader with_right_crc(TcpHeader header) {
  const uint32_t crc = crc32c(header.data(), kTcpHeaderBytes - 4);
  std::memcpy(header.data() + kTcpHeaderBytes - 4, &crc, 4);
  return header;
}

TEST(TcpFrame, survives_the_round_trip_in_every_field) {
  constexpr unsigned kSeed = 20250806;
  std::printf("[ seed ] %u\n", kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 10'000; ++round) {
    const TcpFrame frame = random_frame(random);
    const std::optional<TcpFrame> read = decode_tcp_frame(encode_tcp_frame(frame));
    ASSERT_TRUE(read.has_value()) << round;
    EXPECT_EQ(*read, frame) << round;
  }
}

// Fixed for all time: another version must have another magic.
TEST(TcpFrame, lies_on_the_wire_as_it_is_described) {
  const TcpFrame frame{
      TcpFrameType::message, true, 0x04030201, 0x14131211, 0x24232221, 0x34333231, 0x44434241, 0x54535251};
  const TcpHeader header = encode_tcp_frame(frame);
  const unsigned char wanted[] = {'T',  'R',  1,    1,    0x01, 0x02, 0x03, 0x04, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22,
                                  0x23, 0x24, 0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x51, 0x52, 0x53, 0x54};
  EXPECT_EQ(std::memcmp(header.data(), wanted, sizeof wanted), 0);
  EXPECT_EQ(header, with_right_crc(header));
}

TEST(TcpFrame, with_any_one_or_two_bits_flipped_is_refused) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const TcpHeader good = encode_tcp_frame(random_frame(random));
    const auto flip = [](TcpHeader& header, size_t bit) { header[bit / 8] ^= static_cast<std::byte>(1 << bit % 8); };
    for (size_t first = 0; first < 8 * kTcpHeaderBytes; ++first) {
      TcpHeader one = good;
      flip(one, first);
      EXPECT_FALSE(decode_tcp_frame(one).has_value()) << first;
      for (size_t second = first + 1; round == 0 && second < 8 * kTcpHeaderBytes; ++second) {
        TcpHeader two = one;
        flip(two, second);
        EXPECT_FALSE(decode_tcp_frame(two).has_value()) << first << ", " << second;
      }
    }
  }
}

TEST(TcpFrame, of_random_bytes_is_refused) {
  constexpr unsigned kSeed = 20250807;
  std::printf("[ seed ] %u\n", kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 1'000'000; ++round) {
    TcpHeader header;
    for (size_t i = 0; i < header.size(); i += 4) {
      const auto word = static_cast<uint32_t>(random());
      std::memcpy(header.data() + i, &word, 4);
    }
    ASSERT_FALSE(decode_tcp_frame(header).has_value()) << round;
  }
}

TEST(TcpFrame, whose_fields_contradict_each_other_is_refused_though_its_checksum_is_right) {
  const TcpFrame credit{TcpFrameType::credit, false, 1, 2, 3, 0, 0, 0};
  const auto changed = [&](size_t at, int value) {
    TcpHeader header = encode_tcp_frame(credit);
    header[at] = static_cast<std::byte>(value);
    return decode_tcp_frame(with_right_crc(header)).has_value();
  };
  EXPECT_TRUE(changed(4, 9));  // a field that may have any value
  for (int value = 0; value < 256; ++value) {
    EXPECT_EQ(changed(0, value), value == 'T');
    EXPECT_EQ(changed(1, value), value == 'R');
    EXPECT_EQ(changed(2, value), value == 1 || value == 2) << "type " << value;
    EXPECT_EQ(changed(3, value), value == 0) << "flags of a credit " << value;
    for (size_t at = 16; at < 20; ++at) EXPECT_EQ(changed(at, value), value == 0) << "a credit with a payload";
  }
  TcpFrame message = credit;
  message.type = TcpFrameType::message;
  for (int value = 0; value < 256; ++value) {
    TcpHeader header = encode_tcp_frame(message);
    header[3] = static_cast<std::byte>(value);
    EXPECT_EQ(decode_tcp_frame(with_right_crc(header)).has_value(), value <= 1) << "flags of a message " << value;
  }
}

}  // namespace
}  // namespace ringtree::testing
