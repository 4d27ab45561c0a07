// Tests of the handshake's two state machines against each other, against constants that Python's hmac gave, and
// against everybody who does not know the key: changed, replayed, reflected, cut and random messages. Sockets are in
// test_handshake_socket.cpp.
#include <algorithm>
#include <cstdio>
#include <random>

#include "core/net/handshake.h"
#include "tests/core/net/net_test.h"

namespace ringtree::testing {
namespace {

using State = HandshakeState;

const std::string kKey = "the key that both ends should know";
const Hello kHello{HandshakeRole::data, 0x01020304, 7, 0x0506};

Nonce nonce_of(int seed) {
  Nonce nonce;
  for (size_t i = 0; i < nonce.size(); ++i) nonce[i] = static_cast<char>(static_cast<size_t>(seed) + i);
  return nonce;
}

CalleeHandshake::KeyOf knows(const std::string& key) {
  return [key](const Hello&) { return key; };
}

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::string flipped(std::string message, size_t bit) {
  message[bit / 8] = static_cast<char>(message[bit / 8] ^ (1 << bit % 8));
  return message;
}

// What two ends that know the key say to each other.
struct Transcript {
  std::string hello, reply, proof;
};

Transcript transcript(const Nonce& of_caller, const Nonce& of_callee) {
  CallerHandshake caller(kKey, kHello, of_caller);
  CalleeHandshake callee(knows(kKey), of_callee);
  EXPECT_EQ(callee.feed(caller.first()), State::more);
  const std::string reply = callee.take_output();
  EXPECT_EQ(caller.feed(reply), State::more);
  const std::string proof = caller.take_output();
  EXPECT_EQ(callee.feed(proof), State::done);
  EXPECT_EQ(caller.feed(callee.take_output()), State::done);
  return {caller.first(), reply, proof};
}

TEST(Handshake, BothEndsAreDoneWhenBothKnowTheKey) {
  CallerHandshake caller(kKey, kHello);
  CalleeHandshake callee(knows(kKey));
  EXPECT_EQ(callee.wanted(), 64u);
  EXPECT_EQ(callee.take_output(), "");
  EXPECT_EQ(callee.feed(caller.first()), State::more);
  EXPECT_EQ(callee.wanted(), 32u);
  EXPECT_EQ(caller.wanted(), 64u);
  EXPECT_EQ(caller.feed(callee.take_output()), State::more);
  EXPECT_EQ(caller.wanted(), 1u);       // whether its proof was accepted
  EXPECT_EQ(callee.take_output(), "");  // told once
  EXPECT_EQ(callee.feed(caller.take_output()), State::done);
  EXPECT_EQ(callee.wanted(), 0u);
  EXPECT_EQ(caller.take_output(), "");
  EXPECT_EQ(caller.feed(callee.take_output()), State::done);
  EXPECT_EQ(caller.wanted(), 0u);
  EXPECT_EQ(callee.take_output(), "");
  EXPECT_EQ(callee.hello(), kHello);
}

// Python: hmac.new(bytes(range(32)), b"callee" + hello + nonce, "sha256").digest() and likewise for the caller.
TEST(Handshake, MessagesAreThoseOfPython) {
  std::string key;
  for (char byte = 0; byte < 32; ++byte) key.push_back(byte);
  CallerHandshake caller(key, kHello, nonce_of(0xa0));
  CalleeHandshake callee(knows(key), nonce_of(0xc0));
  EXPECT_EQ(caller.first(), bytes_of_hex("525448454c4c4f3102000403020107000000060500000000000000000000000000000000"
                                         "000000000000000000000000a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"));
  callee.feed(caller.first());
  const std::string reply = callee.take_output();
  EXPECT_EQ(reply, bytes_of_hex("525448454c4c4f31c0c1c2c3c4c5c6c7c8c9cacbcccdcecff6a462268d1de92a9f51482fa85d2ddc"
                                "b01390886004994e6fb080896629913600000000"
                                "00000000"));
  caller.feed(reply);
  EXPECT_EQ(caller.take_output(), bytes_of_hex("12e2969aaabb2d932da65f207d4844e5bfc061ef3d2677ca6c9fe9fd0fc759c0"));
}

TEST(Handshake, EveryRoleAndExtremeNumbersArrive) {
  for (const HandshakeRole role : {HandshakeRole::control, HandshakeRole::data, HandshakeRole::store}) {
    for (const Hello& hello :
         {Hello{role, 0, 0, 0}, Hello{role, 0xffffffff, 0, 0xffff}, Hello{role, 0, 0xfffffffe, 1}}) {
      EXPECT_EQ(decode_hello(encode_hello(hello, random_nonce())), hello);
    }
  }
}

TEST(Handshake, TheKeyMayDependOnTheHello) {
  const auto key_of = [](const Hello& hello) -> std::optional<std::string> {
    if (hello.called_rank != 7) return std::nullopt;
    return kKey + std::to_string(hello.rank);
  };
  const auto callee_says = [&](uint32_t rank, uint32_t called_rank) {
    CallerHandshake caller(kKey + "3", {HandshakeRole::data, rank, called_rank, 0});
    CalleeHandshake callee(key_of);
    callee.feed(caller.first());
    const std::string reply = callee.take_output();
    return (reply.empty() ? "no answer" : caller.feed(reply) == State::more ? "right" : "wrong key");
  };
  EXPECT_STREQ(callee_says(3, 7), "right");
  EXPECT_STREQ(callee_says(4, 7), "wrong key");
  EXPECT_STREQ(callee_says(3, 8), "no answer");
}

TEST(Handshake, ACalleeWithAnotherKeyIsRefused) {
  for (const std::string& other : {std::string(), kKey + "x", kKey.substr(1), flipped(kKey, 0)}) {
    CallerHandshake caller(kKey, kHello);
    CalleeHandshake callee(knows(other));
    callee.feed(caller.first());
    EXPECT_EQ(caller.feed(callee.take_output()), State::refused) << other;
    EXPECT_EQ(caller.take_output(), "");
    EXPECT_EQ(caller.wanted(), 0u);
  }
}

// Who does not know the key can take any reply for good, but not answer it.
TEST(Handshake, ACallerWithAnotherKeyIsRefused) {
  for (const std::string& other : {std::string(), kKey + "x", kKey.substr(1), flipped(kKey, 0)}) {
    CalleeHandshake callee(knows(kKey));
    const std::string hello = encode_hello(kHello, random_nonce());
    callee.feed(hello);
    EXPECT_EQ(callee.feed(encode_proof(other, hello, callee.take_output())), State::refused) << other;
    EXPECT_EQ(callee.wanted(), 0u);
  }
}

TEST(Handshake, EveryFlippedBitIsRefused) {
  const Transcript good = transcript(nonce_of(1), nonce_of(2));
  for (size_t bit = 0; bit < 8 * kHelloBytes; ++bit) {
    CalleeHandshake callee(knows(kKey));
    CallerHandshake caller(kKey, kHello);
    const State state = callee.feed(flipped(caller.first(), bit));
    const std::string reply = callee.take_output();
    EXPECT_EQ(reply.empty(), state == State::refused);
    EXPECT_TRUE(reply.empty() || bit >= 8 * kHandshakeMagic.size()) << "a wrong magic was answered, bit " << bit;
    EXPECT_TRUE(reply.empty() || caller.feed(reply) == State::refused) << "hello, bit " << bit;
    // Nor does it help to go on with a proof of the unchanged conversation.
    CalleeHandshake same_nonce(knows(kKey), nonce_of(2));
    same_nonce.feed(flipped(good.hello, bit));
    EXPECT_EQ(same_nonce.feed(good.proof), State::refused) << "hello, bit " << bit;
  }
  for (size_t bit = 0; bit < 8 * kReplyBytes; ++bit) {
    CallerHandshake caller(kKey, kHello, nonce_of(1));
    EXPECT_EQ(caller.feed(flipped(good.reply, bit)), State::refused) << "reply, bit " << bit;
    EXPECT_EQ(caller.take_output(), "");
  }
  for (size_t bit = 0; bit < 8 * kProofBytes; ++bit) {
    CalleeHandshake callee(knows(kKey), nonce_of(2));
    callee.feed(good.hello);
    EXPECT_EQ(callee.feed(flipped(good.proof, bit)), State::refused) << "proof, bit " << bit;
  }
}

TEST(Handshake, OnlyTheNonceStopsAReplay) {
  const Transcript earlier = transcript(nonce_of(1), nonce_of(2));
  CalleeHandshake same_nonce(knows(kKey), nonce_of(2));
  same_nonce.feed(earlier.hello);
  EXPECT_EQ(same_nonce.feed(earlier.proof), State::done);  // what a callee without fresh nonces would do
  CalleeHandshake callee(knows(kKey));
  EXPECT_EQ(callee.feed(earlier.hello), State::more);
  EXPECT_EQ(callee.feed(earlier.proof), State::refused);
  CallerHandshake caller(kKey, kHello);
  EXPECT_EQ(caller.feed(earlier.reply), State::refused);
}

TEST(Handshake, NoncesAreFresh) {
  EXPECT_NE(CallerHandshake(kKey, kHello).first(), CallerHandshake(kKey, kHello).first());
  CalleeHandshake a(knows(kKey)), b(knows(kKey));
  const std::string hello = encode_hello(kHello, nonce_of(1));
  a.feed(hello);
  b.feed(hello);
  EXPECT_NE(a.take_output(), b.take_output());
}

// Whoever sends back what he got, or has another victim compute the answer, proves nothing.
TEST(Handshake, ReflectionIsRefused) {
  CallerHandshake caller(kKey, kHello);
  EXPECT_EQ(caller.feed(caller.first()), State::refused);

  CalleeHandshake callee(knows(kKey));
  callee.feed(encode_hello(kHello, nonce_of(1)));
  const std::string reply = callee.take_output();
  for (size_t at = 0; at + kProofBytes <= reply.size(); ++at) {  // at 24 is the callee's own HMAC
    CalleeHandshake same(knows(kKey), nonce_of(2));
    same.feed(encode_hello(kHello, nonce_of(1)));
    EXPECT_EQ(same.feed(same.take_output().substr(at, kProofBytes)), State::refused) << at;
  }

  // The reply sent to a second connection of the same callee, as if it were a hello.
  CalleeHandshake second(knows(kKey));
  EXPECT_EQ(second.feed(reply), State::refused);

  // The callee's HMAC passed off as that of a reply to another caller with the same hello but its own nonce.
  CallerHandshake other(kKey, kHello);
  EXPECT_EQ(other.feed(reply), State::refused);
}

TEST(Handshake, BytesMayComeOneByOne) {
  CallerHandshake caller(kKey, kHello);
  CalleeHandshake callee(knows(kKey));
  const auto feed_slowly = [](auto& to, const std::string& message) {
    for (size_t i = 0; i < message.size(); ++i) {
      EXPECT_EQ(to.state(), State::more) << i;
      EXPECT_EQ(to.wanted(), message.size() - i);
      EXPECT_EQ(to.take_output(), "");
      to.feed(message.substr(i, 1));
    }
  };
  feed_slowly(callee, caller.first());
  feed_slowly(caller, callee.take_output());
  feed_slowly(callee, caller.take_output());
  EXPECT_EQ(callee.state(), State::done);
  feed_slowly(caller, callee.take_output());
  EXPECT_EQ(caller.state(), State::done);
}

TEST(Handshake, WhatIsCutIsNeverDone) {
  const Transcript good = transcript(nonce_of(1), nonce_of(2));
  for (size_t num_bytes = 0; num_bytes < kHelloBytes; ++num_bytes) {
    CalleeHandshake callee(knows(kKey));
    EXPECT_EQ(callee.feed(good.hello.substr(0, num_bytes)), State::more);
    EXPECT_EQ(callee.take_output(), "");
    CallerHandshake caller(kKey, kHello, nonce_of(1));
    EXPECT_EQ(caller.feed(good.reply.substr(0, num_bytes)), State::more);
    EXPECT_EQ(caller.take_output(), "");
  }
  for (size_t num_bytes = 0; num_bytes < kProofBytes; ++num_bytes) {
    CalleeHandshake callee(knows(kKey), nonce_of(2));
    callee.feed(good.hello);
    EXPECT_EQ(callee.feed(good.proof.substr(0, num_bytes)), State::more);
  }
}

TEST(Handshake, MoreThanWantedIsRefusedAndNothingIsSaid) {
  const Transcript good = transcript(nonce_of(1), nonce_of(2));
  CallerHandshake caller(kKey, kHello, nonce_of(1));
  EXPECT_EQ(caller.feed(good.reply + "x"), State::refused);
  CalleeHandshake callee(knows(kKey), nonce_of(2));
  EXPECT_EQ(callee.feed(good.hello + good.proof), State::refused);
  EXPECT_EQ(callee.feed(good.hello), State::refused);  // for good
  CallerHandshake done(kKey, kHello, nonce_of(1));
  EXPECT_EQ(done.feed(good.reply), State::more);
  EXPECT_EQ(done.take_output(), good.proof);
  EXPECT_EQ(done.feed(kAccepted), State::done);
  EXPECT_EQ(done.feed(""), State::done);
  EXPECT_EQ(done.feed("x"), State::refused);
  EXPECT_EQ(done.take_output(), "");
}

TEST(Handshake, WithoutAWordThatItsProofWasAcceptedACallerIsNotDone) {
  const Transcript good = transcript(nonce_of(1), nonce_of(2));
  for (const char* word : {"", "\x07", "x"}) {
    CallerHandshake caller(kKey, kHello, nonce_of(1));
    caller.feed(good.reply);
    EXPECT_EQ(caller.feed(word), *word ? State::refused : State::more);
  }
}

TEST(Handshake, AWrongMagicIsRefusedAtItsFirstWrongByte) {
  for (size_t right = 0; right < kHandshakeMagic.size(); ++right) {
    CalleeHandshake callee(knows(kKey));
    EXPECT_EQ(callee.feed(kHandshakeMagic.substr(0, right)), State::more);
    EXPECT_EQ(callee.feed("?"), State::refused);
    EXPECT_EQ(callee.take_output(), "");
  }
  for (size_t right = 0; right < kHandshakeMagic.size(); ++right) {
    CallerHandshake caller(kKey, kHello);
    EXPECT_EQ(caller.feed(kHandshakeMagic.substr(0, right)), State::more);
    EXPECT_EQ(caller.feed("?"), State::refused);
    EXPECT_EQ(caller.take_output(), "");
  }
  CalleeHandshake web(knows(kKey));
  EXPECT_EQ(web.feed("GET / HTTP/1.0\r\n\r\n"), State::refused);
}

TEST(Handshake, HellosThatNobodyWritesGetNoAnswer) {
  const std::string good = encode_hello(kHello, nonce_of(1));
  const auto with = [&](size_t at, char byte) {
    std::string message = good;
    message[at] = byte;
    return message;
  };
  ASSERT_TRUE(decode_hello(good));
  EXPECT_FALSE(decode_hello(with(8, 0)));  // roles 0,
  EXPECT_FALSE(decode_hello(with(8, 4)));  // 4
  EXPECT_FALSE(decode_hello(with(9, 1)));  // and 258
  for (size_t at = 20; at < 48; ++at) EXPECT_FALSE(decode_hello(with(at, 1))) << at;
  EXPECT_FALSE(decode_hello(good.substr(0, 63)));
  EXPECT_FALSE(decode_hello(good + "x"));
  CalleeHandshake callee(knows(kKey));
  EXPECT_EQ(callee.feed(with(8, 4)), State::refused);
  EXPECT_EQ(callee.take_output(), "");
}

// Feeds of random bytes, half of them behind a good beginning so that the later steps are reached too.
TEST(Handshake, RandomBytesAreNeverDone) {
  constexpr unsigned kSeed = 20260301;
  constexpr int kFeeds = 100'000;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  int num_feeds = 0, num_refused = 0;
  const auto attack = [&](auto& victim) {
    while (victim.state() == State::more) {
      std::string noise(random() % (victim.wanted() + 2), '\0');  // up to one byte too many
      for (char& c : noise) c = static_cast<char>(random());
      ASSERT_LE(victim.wanted(), 64u);
      ASSERT_NE(victim.feed(noise), State::done) << num_feeds;
      ++num_feeds;
    }
    ++num_refused;
    ASSERT_EQ(victim.feed("x"), State::refused);
  };
  while (num_feeds < kFeeds && !HasFatalFailure()) {
    const std::string hello = encode_hello(kHello, nonce_of(static_cast<int>(random() % 100)));
    CalleeHandshake callee(knows(kKey));
    if (random() % 2 == 0) callee.feed(std::string_view(hello).substr(0, random() % (hello.size() + 1)));
    attack(callee);
    CallerHandshake caller(kKey, kHello);
    if (random() % 2 == 0) caller.feed(kHandshakeMagic);
    attack(caller);
  }
  EXPECT_GT(num_refused, 1'000);
}

}  // namespace
}  // namespace ringtree::testing
