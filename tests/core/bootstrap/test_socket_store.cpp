// What SocketStore does where whoever serves it is there but takes nothing. What it does otherwise is in
// test_store.cpp.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/bootstrap/socket_store.h"

namespace ringtree::testing {
namespace {

/// Its server is a socket that is full and that nobody reads.
class StoppedServer : public SocketStore {
 public:
  StoppedServer() : SocketStore("the store of a test") {}

 protected:
  Fd connect(Deadline) override {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw WorldError("no pair of sockets");
    Fd own(ends[0]);
    other_.reset(ends[1]);
    const std::string text(4096, 'x');
    while (::send(own.get(), text.data(), text.size(), MSG_NOSIGNAL) > 0) {
    }
    return own;
  }

 private:
  Fd other_;
};

TEST(SocketStore, WhoTakesNoRequestsIsNotSaidToHaveEnded) {
  StoppedServer store;
  try {
    store.get("key", Deadline::after_seconds(0));
    FAIL() << "nobody can have answered";
  } catch (const TimeoutError& error) {
    EXPECT_EQ(std::string(error.what()),
              "the store of a test accepts no requests: rank 0, which serves it, may be stopped");
  }
}

}  // namespace
}  // namespace ringtree::testing
