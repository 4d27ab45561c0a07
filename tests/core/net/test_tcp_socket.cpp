// Tests of tcp_socket.h on this host's loopback: who listens where, how connecting goes and fails, and the options that
// sockets must have.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>

#include "core/net/tcp_socket.h"
#include "tests/core/net/net_test.h"

namespace ringtree::testing {
namespace {

int option(int socket, int level, int name) {
  int value = -1;
  socklen_t num_bytes = sizeof(value);
  return ::getsockopt(socket, level, name, &value, &num_bytes) == 0 ? value : -1;
}

bool never_blocks_nor_leaks(int socket) {
  return (::fcntl(socket, F_GETFL) & O_NONBLOCK) != 0 && (::fcntl(socket, F_GETFD) & FD_CLOEXEC) != 0;
}

// A port of 127.0.0.1 that nobody listens on, as long as the socket is open.
Fd taken_port() {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  EXPECT_EQ(::bind(socket.get(), loopback().raw(), loopback().size()), 0);
  return socket;
}

TEST(TcpSocket, CarriesBytesBothWays) {
  for (const std::string where : {"127.0.0.1:0", "[::1]:0"}) {
    if (listen_tcp(address_of(where), 1).error == EADDRNOTAVAIL) continue;  // a host without IPv6
    const Pair pair = connected_pair(address_of(where));
    ASSERT_TRUE(write_all(pair.caller.get(), "ping", patience()));
    ASSERT_TRUE(write_all(pair.callee.get(), "pong", patience()));
    for (const int socket : {pair.caller.get(), pair.callee.get()}) {
      char buffer[8];
      ASSERT_TRUE(wait_for(socket, POLLIN, patience()));
      EXPECT_EQ(::recv(socket, buffer, sizeof(buffer), 0), 4);
      EXPECT_EQ(std::string(buffer, 4), socket == pair.caller.get() ? "pong" : "ping");
    }
    EXPECT_TRUE(remote_address(pair.callee.get()) == local_address(pair.caller.get()));
  }
}

TEST(TcpSocket, EverySocketNeverBlocksNorLeaks) {
  const Pair pair = connected_pair(loopback());
  for (const int socket : {pair.listener.get(), pair.caller.get(), pair.callee.get()}) {
    EXPECT_TRUE(never_blocks_nor_leaks(socket));
  }
}

TEST(ListenTcp, IsBoundToItsAddressAlone) {
  const SocketResult listener = listen_tcp(loopback(), 1);
  ASSERT_EQ(listener.error, 0);
  const std::optional<Address> bound = local_address(listener.socket.get());
  ASSERT_TRUE(bound);
  EXPECT_TRUE(bound->with_port(0) == loopback());
  // The same port of another address is still free.
  EXPECT_EQ(listen_tcp(address_of("127.0.0.2:0").with_port(bound->port()), 1).error, 0);
}

TEST(ListenTcp, RefusesWildcards) {
  for (const std::string text : {"0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"}) {
    const std::string message = usage_error_of([&] { listen_tcp(address_of(text), 1); });
    EXPECT_TRUE(contains(message, text) && contains(message, "RINGTREE_IFNAME")) << message;
  }
}

TEST(ListenTcp, SaysWhyItCannot) {
  const SocketResult first = listen_tcp(loopback(), 1);
  EXPECT_EQ(listen_tcp(local_address(first.socket.get()).value(), 1).error, EADDRINUSE);
  EXPECT_EQ(listen_tcp(address_of("203.0.113.1:0"), 1).error, EADDRNOTAVAIL);  // TEST-NET-3 is nobody's
}

TEST(ListenTcp, TakesAPortWhoseConnectionsAreOver) {
  Pair pair = connected_pair(loopback());
  const Address where = local_address(pair.listener.get()).value();
  pair.listener.reset();
  pair.callee.reset();  // who closes first keeps the port, for a minute
  EXPECT_TRUE(wait_for(pair.caller.get(), POLLIN, patience()));
  pair.caller.reset();
  EXPECT_EQ(listen_tcp(where, 1).error, 0);
}

// Bound to an address of its own an IPv6 socket takes no IPv4 anyhow, says Linux; IPv4 inside IPv6 shows the option.
TEST(ListenTcp, IPv6TakesNoIPv4) {
  if (listen_tcp(address_of("[::1]:0"), 1).error != 0) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(listen_tcp(address_of("[::ffff:127.0.0.1]:0"), 1).error, EINVAL);
}

TEST(ConnectTcp, ComesFromWhereItIsTold) {
  const Address from = address_of("127.0.0.3:9999");  // the port does not count
  const Pair pair = connected_pair(loopback(), &from);
  const std::optional<Address> seen = remote_address(pair.callee.get());
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->with_port(0).to_text(), "127.0.0.3:0");
  EXPECT_NE(seen->port(), 9999);
}

TEST(ConnectTcp, CannotComeFromElsewhere) {
  const Address nobodys = address_of("203.0.113.1:0"), other_family = address_of("[::1]:0");
  EXPECT_EQ(connect_tcp(address_of("127.0.0.1:9"), &nobodys).error, EADDRNOTAVAIL);
  EXPECT_NE(connect_tcp(address_of("127.0.0.1:9"), &other_family).error, 0);
}

TEST(ConnectError, TellsAFailureOnceAndNeverSuccess) {
  const Fd taken = taken_port();
  const SocketResult caller = connect_tcp(local_address(taken.get()).value(), nullptr);
  ASSERT_EQ(caller.error, 0);
  EXPECT_EQ(outcome(caller.socket.get()), ECONNREFUSED);
  EXPECT_EQ(connect_error(caller.socket.get()), ENOTCONN);
}

TEST(ConnectError, ASocketThatNeverConnectedIsNotConnected) {
  EXPECT_EQ(connect_error(taken_port().get()), ENOTCONN);
  EXPECT_EQ(connect_error(-1), EBADF);
}

TEST(ConnectError, WaitsForAListenerWhoseQueueIsFull) {
  const SocketResult listener = listen_tcp(loopback(), 0);
  const Address where = local_address(listener.socket.get()).value();
  std::vector<Fd> callers;
  for (int i = 0; i < 8; ++i) {
    SocketResult caller = connect_tcp(where, nullptr);
    ASSERT_EQ(caller.error, 0);
    callers.push_back(std::move(caller.socket));
  }
  EXPECT_EQ(outcome(callers.front().get()), 0);
  EXPECT_EQ(connect_error(callers.back().get()), EINPROGRESS);
}

TEST(ConnectError, ASocketConnectedToItselfIsRefused) {
  const Fd socket = taken_port();
  const Address self = local_address(socket.get()).value();
  ::connect(socket.get(), self.raw(), self.size());
  ASSERT_TRUE(wait_for(socket.get(), POLLOUT, patience()));
  ASSERT_TRUE(remote_address(socket.get()) == self);  // it is connected, says the kernel
  EXPECT_EQ(connect_error(socket.get()), ECONNREFUSED);
}

TEST(SendAtOnce, TurnsNagleOff) {
  const Pair pair = connected_pair(loopback());
  EXPECT_EQ(option(pair.caller.get(), IPPROTO_TCP, TCP_NODELAY), 0);
  send_at_once(pair.caller.get());
  EXPECT_EQ(option(pair.caller.get(), IPPROTO_TCP, TCP_NODELAY), 1);
}

}  // namespace
}  // namespace ringtree::testing
