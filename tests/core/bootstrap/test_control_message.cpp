// The decoders of control frames, hellos and identities: what they must take, and all that they must refuse.
// No sockets: those are in test_frame_reader.cpp.
#include <gtest/gtest.h>

#include <random>

#include "core/bootstrap/control_message.h"
#include "core/bootstrap/peer.h"
#include "core/bootstrap/wire.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

TEST(ControlMessage, has_the_documented_layout) {
  const std::string frame = encode_control_frame(ControlType::abort, "why", true);
  // The checksum: CRC-32C of the other bytes, from another implementation.
  EXPECT_EQ(frame, std::string("RTRC\2\0\3\0\3\0\0\0\1\0\0\0\xfd\xee\xf6\x75why", 23));
  const std::optional<ControlHeader> header = decode_control_header(frame);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->type, ControlType::abort);
  EXPECT_EQ(header->payload_bytes, 3u);
  EXPECT_TRUE(header->has_descriptor);
}

TEST(ControlMessage, refuses_every_truncation_and_every_spoilt_field) {
  const std::string frame = encode_control_frame(ControlType::link, "", false);
  for (size_t i = 0; i < frame.size(); ++i) EXPECT_FALSE(decode_control_header(frame.substr(0, i)).has_value()) << i;
  for (size_t i = 0; i < frame.size(); ++i) {
    std::string spoilt = frame;
    spoilt[i] = '\x7f';
    // Bytes 8 and 9 are the low bytes of the payload's length: 0x7f and 0x7f00 are below the limit. From byte 16 on
    // comes the checksum, which is held against the whole frame.
    const std::optional<ControlHeader> header = decode_control_header(spoilt);
    EXPECT_EQ(header.has_value(), i == 8 || i == 9 || i >= 16) << i;
    EXPECT_FALSE(header && is_whole(spoilt, *header)) << i;
  }
}

TEST(ControlMessage, refuses_lengths_and_types_above_the_limits) {
  const auto header = [](uint64_t type, uint64_t payload_bytes, uint64_t num_descriptors) {
    ByteWriter out;
    out.bytes("RTRC").number(2, 2).number(type, 2).number(payload_bytes, 4).number(num_descriptors, 4).number(0, 4);
    return decode_control_header(out.take()).has_value();
  };
  for (uint64_t type = 1; type <= 5; ++type) EXPECT_TRUE(header(type, 65536, 1)) << type;
  for (const uint64_t type : {0, 6, 255, 65535}) EXPECT_FALSE(header(type, 0, 0)) << type;
  for (const uint64_t bytes : {65537u, 1u << 20, 1u << 31, 0xffffffffu}) EXPECT_FALSE(header(2, bytes, 0)) << bytes;
  for (const uint64_t count : {2u, 253u, 0xffffffffu}) EXPECT_FALSE(header(2, 0, count)) << count;
}

TEST(ControlMessage, random_bytes_are_no_frames) {
  std::mt19937 random(20240602);
  for (int i = 0; i < 100'000; ++i) {
    std::string noise(random() % 80, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    EXPECT_FALSE(decode_control_header(noise).has_value());
    EXPECT_FALSE(decode_hello_frame(noise).has_value());
    EXPECT_FALSE(decode_identity(noise).has_value());
  }
}

TEST(MeshHello, takes_exactly_one_hello) {
  const MeshHello hello{7, std::string(kTokenBytes, 't')};
  const std::string frame = encode_hello_frame(hello);
  ASSERT_EQ(frame.size(), kHelloFrameBytes);
  const std::optional<MeshHello> decoded = decode_hello_frame(frame);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->rank, 7);
  EXPECT_EQ(decoded->token, hello.token);
  for (size_t i = 0; i < frame.size(); ++i) EXPECT_FALSE(decode_hello_frame(frame.substr(0, i)).has_value()) << i;
  EXPECT_FALSE(decode_hello_frame(frame + "x").has_value());
  const std::string payload = frame.substr(kControlHeaderBytes);
  std::string negative = payload;
  negative[3] = '\x80';
  EXPECT_FALSE(decode_hello_frame(encode_control_frame(ControlType::hello, negative, false)).has_value());
  EXPECT_FALSE(decode_hello_frame(encode_control_frame(ControlType::link, payload, false)).has_value());
  for (size_t i = 0; i < 8 * frame.size(); ++i) {
    std::string damaged = frame;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << i % 8));
    EXPECT_FALSE(decode_hello_frame(damaged).has_value()) << "bit " << i;
  }
}

TEST(Identity, survives_the_round_trip_and_refuses_every_truncation) {
  const PeerIdentity self = describe_self(2, 5, "algorithm=ring");
  EXPECT_EQ(self.pid, ::getpid());
  const std::string record = encode_identity(self);
  const std::optional<PeerIdentity> decoded = decode_identity(record);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, self);
  for (size_t i = 0; i < record.size(); ++i) EXPECT_FALSE(decode_identity(record.substr(0, i)).has_value()) << i;
  EXPECT_FALSE(decode_identity(record + "x").has_value());
}

TEST(Identity, impossible_fields_are_refused) {
  const PeerIdentity self = describe_self(2, 5, "");
  const auto readable = [&](const std::function<void(PeerIdentity&)>& spoil) {
    PeerIdentity identity = self;
    spoil(identity);
    return decode_identity(encode_identity(identity)).has_value();
  };
  EXPECT_TRUE(readable([](PeerIdentity&) {}));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.rank = 5; }));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.rank = -1; }));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.world_size = -1; }));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.pid = -1; }));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.boot_id.clear(); }));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.boot_id.assign(256, 'b'); }));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.token.pop_back(); }));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.socket_name.clear(); }));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.socket_name.assign(108, 's'); }));
  EXPECT_FALSE(readable([](PeerIdentity& i) { i.settings.assign(kMaxSettingsBytes + 1, 's'); }));
}

TEST(Identity, names_and_tokens_are_fresh_and_arguments_are_checked) {
  const PeerIdentity a = describe_self(0, 2, "");
  const PeerIdentity b = describe_self(0, 2, "");
  EXPECT_NE(a.socket_name, b.socket_name);
  EXPECT_NE(a.token, b.token);
  EXPECT_TRUE(contains(outcome_of([] { describe_self(2, 2, ""); }), "usage: rank 2 of 2 does not exist"));
  EXPECT_TRUE(contains(outcome_of([] { describe_self(-1, 2, ""); }), "usage: "));
  EXPECT_TRUE(contains(outcome_of([] { describe_self(0, 0, ""); }), "usage: "));
  EXPECT_TRUE(contains(outcome_of([] { describe_self(0, 1, std::string(kMaxSettingsBytes + 1, 's')); }), "usage: "));
}

}  // namespace
}  // namespace ringtree::testing
