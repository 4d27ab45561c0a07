// See tcp_socket.h.
#include "core/net/tcp_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/base/error.h"

namespace ringtree {
namespace {

Fd new_socket(int family) { return Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP)); }

// Options that every kernel since 4.2 knows; where one is refused all the same, the calls behind it say what is wrong.
void switch_on(int socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket, level, option, &on, sizeof(on));
}

}  // namespace

SocketResult listen_tcp(const Address& address, int backlog) {
  if (address.is_wildcard()) {
    throw UsageError("listening on " + address.to_text() +
                     " would be open to every network of this host: name one address, or an interface by " +
                     "RINGTREE_IFNAME");
  }
  Fd socket = new_socket(address.family());
  if (!socket.valid()) return {Fd(), errno};
  // Else a port stays taken for a minute by connections of an earlier job that are gone (TIME_WAIT).
  switch_on(socket.get(), SOL_SOCKET, SO_REUSEADDR);
  if (address.family() == AF_INET6) switch_on(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  if (::bind(socket.get(), address.raw(), address.size()) != 0 || ::listen(socket.get(), backlog) != 0) {
    return {Fd(), errno};
  }
  return {std::move(socket), 0};
}

SocketResult connect_tcp(const Address& to, const Address* from) {
  Fd socket = new_socket(to.family());
  if (!socket.valid()) return {Fd(), errno};
  if (from != nullptr) {
    // The port is chosen when connecting, when the other end is known: one port then serves connections to many ends.
    switch_on(socket.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
    const Address source = from->with_port(0);
    if (::bind(socket.get(), source.raw(), source.size()) != 0) return {Fd(), errno};
  }
  // Interrupted, it goes on all the same (POSIX).
  if (::connect(socket.get(), to.raw(), to.size()) != 0 && errno != EINPROGRESS && errno != EINTR) {
    return {Fd(), errno};
  }
  return {std::move(socket), 0};
}

int connect_error(int socket) {
  if (socket < 0) return EBADF;  // poll() passes over it, which would look like waiting
  pollfd entry{socket, POLLOUT, 0};
  const int ready = ::poll(&entry, 1, 0);
  if (ready == 0 || (ready < 0 && errno == EINTR)) return EINPROGRESS;
  int error = 0;
  socklen_t num_bytes = sizeof(error);
  if (ready < 0 || ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &num_bytes) != 0) return errno;
  if (error != 0) return error;
  // SO_ERROR tells a failure once and then 0, and 0 as well where connect() was never called.
  const std::optional<Address> remote = remote_address(socket);
  if (!remote) return ENOTCONN;
  // A port that nobody listens on can be the one that the kernel chose for this very socket, which is then connected to
  // itself (both sides of a simultaneous open).
  return remote == local_address(socket) ? ECONNREFUSED : 0;
}

void send_at_once(int socket) { switch_on(socket, IPPROTO_TCP, TCP_NODELAY); }

}  // namespace ringtree
