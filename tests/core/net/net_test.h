// Helpers of this folder's tests: patience, the message of an exception, addresses that must parse, and connections
// within this process. Not for ranks: tests/core/bootstrap/rank_threads.h.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <functional>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/net/address.h"
#include "core/net/tcp_socket.h"

namespace ringtree::testing {

// Far longer than anything takes here, also with many jobs on few cores.
inline Deadline patience() { return Deadline::after_seconds(30.0); }

/// The message of the UsageError that `body` throws; "" if it throws none.
inline std::string usage_error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What parse() makes of `text`; throws std::bad_optional_access if it makes nothing of it.
inline Address address_of(const std::string& text) { return Address::parse(text).value(); }

inline const Address& loopback() {
  static const Address address = address_of("127.0.0.1:0");
  return address;
}

/// What became of a connection that is being made: 0, or an errno value.
inline int outcome(int socket) { return wait_for(socket, POLLOUT, patience()) ? connect_error(socket) : ETIMEDOUT; }

/// Two ends of a TCP connection of this process.
struct Pair {
  Fd listener, caller, callee;
};

inline Pair connected_pair(const Address& where = loopback(), const Address* from = nullptr) {
  Pair pair;
  pair.listener = listen_tcp(where, 8).socket;
  SocketResult caller = connect_tcp(local_address(pair.listener.get()).value(), from);
  EXPECT_EQ(caller.error, 0);
  pair.caller = std::move(caller.socket);
  EXPECT_EQ(outcome(pair.caller.get()), 0);
  EXPECT_TRUE(wait_for(pair.listener.get(), POLLIN, patience()));
  pair.callee = accept_connection(pair.listener.get()).socket;
  return pair;
}

}  // namespace ringtree::testing
