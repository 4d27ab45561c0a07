// Tests of perform(): the caller's side of a handshake over real socket pairs, against callees that are right, slow,
// silent, wrong or gone. The messages themselves are in test_handshake.cpp.
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "core/base/fd.h"
#include "core/net/handshake.h"
#include "core/net/socket.h"
#include "tests/core/net/net_test.h"

namespace ringtree::testing {
namespace {

const std::string kSocketKey = "the key that both ends should know";
const Hello kSocketHello{HandshakeRole::control, 1, 0, 0};

class HandshakeSocket : public ::testing::Test {
 protected:
  HandshakeSocket() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
  }

  // Whatever comes next, up to `num_bytes`; "" at the end of the stream.
  static std::string receive(int socket, size_t num_bytes) {
    std::string bytes(num_bytes, '\0');
    EXPECT_TRUE(wait_for(socket, POLLIN, patience()));
    const ssize_t got = ::recv(socket, bytes.data(), num_bytes, 0);
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return bytes;
  }

  // The callee's side, which answers in pieces of `piece` bytes.
  HandshakeState serve(const std::string& key, size_t piece) {
    CalleeHandshake callee([&](const Hello&) { return key; });
    while (callee.wanted() > 0) {
      const std::string bytes = receive(theirs_.get(), callee.wanted());
      if (bytes.empty()) break;
      callee.feed(bytes);
      const std::string reply = callee.take_output();
      for (size_t at = 0; at < reply.size(); at += piece) {
        EXPECT_TRUE(write_all(theirs_.get(), std::string_view(reply).substr(at, piece), patience()));
      }
    }
    return callee.state();
  }

  Fd ours_;
  Fd theirs_;
};

TEST_F(HandshakeSocket, SucceedsInPiecesOfAnySize) {
  for (const size_t piece : {1, 7, 63, 64}) {
    HandshakeState served = HandshakeState::more;
    std::thread callee([&] { served = serve(kSocketKey, piece); });
    CallerHandshake caller(kSocketKey, kSocketHello);
    EXPECT_TRUE(perform(caller, ours_.get(), patience())) << piece;
    callee.join();
    EXPECT_EQ(served, HandshakeState::done) << piece;
  }
}

// However much of the reply was there before: the rest of it lies in one piece with what follows.
TEST_F(HandshakeSocket, ReadsNothingBehindTheHandshake) {
  for (const size_t before : {0, 1, 40, 63}) {
    CallerHandshake caller(kSocketKey, kSocketHello);
    CalleeHandshake callee([](const Hello&) { return kSocketKey; });
    callee.feed(caller.first());
    const std::string reply = callee.take_output();
    caller.feed(reply.substr(0, before));
    const std::string all = reply.substr(before) + std::string(kAccepted) + "the first frame";
    ASSERT_TRUE(write_all(theirs_.get(), all, patience()));
    EXPECT_TRUE(perform(caller, ours_.get(), patience())) << before;
    EXPECT_EQ(receive(ours_.get(), 1'000), "the first frame") << before;
    EXPECT_EQ(receive(theirs_.get(), 64), caller.first());
    EXPECT_EQ(callee.feed(receive(theirs_.get(), 32)), HandshakeState::done);
  }
}

TEST_F(HandshakeSocket, FailsWhenTheOtherEndHasAnotherKey) {
  std::thread callee([&] {
    EXPECT_EQ(serve("another key", 64), HandshakeState::more);  // never gets a proof
  });
  CallerHandshake caller(kSocketKey, kSocketHello);
  EXPECT_FALSE(perform(caller, ours_.get(), patience()));
  EXPECT_EQ(caller.state(), HandshakeState::refused);
  ours_.reset();
  callee.join();
}

TEST_F(HandshakeSocket, FailsWhenTheOtherEndGoes) {
  ASSERT_TRUE(write_all(theirs_.get(), "RTHELLO1", patience()));
  ASSERT_EQ(::shutdown(theirs_.get(), SHUT_WR), 0);
  CallerHandshake in_the_middle(kSocketKey, kSocketHello);
  EXPECT_FALSE(perform(in_the_middle, ours_.get(), patience()));
  theirs_.reset();
  CallerHandshake before(kSocketKey, kSocketHello);
  EXPECT_FALSE(perform(before, ours_.get(), patience()));
}

TEST_F(HandshakeSocket, FailsAtTheDeadlineWhenTheOtherEndIsSilent) {
  CallerHandshake caller(kSocketKey, kSocketHello);
  EXPECT_FALSE(perform(caller, ours_.get(), Deadline::after_seconds(0.01)));
  EXPECT_EQ(caller.state(), HandshakeState::more);
  EXPECT_EQ(receive(theirs_.get(), 1'000), caller.first());  // and it had spoken
}

}  // namespace
}  // namespace ringtree::testing
