// Thin wrappers over the system calls; the only file that builds addresses of Unix sockets.
// No policy here: who may connect and how often to retry is decided by the callers.
#include "core/bootstrap/unix_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "core/base/error.h"

namespace ringtree {
namespace {

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t num_bytes = 0;
};

AbstractAddress abstract_address(std::string_view name) {
  if (name.empty() || name.size() > kMaxSocketNameBytes) {
    throw UsageError("a socket name has 1 to " + std::to_string(kMaxSocketNameBytes) + " bytes, this one has " +
                     std::to_string(name.size()) + ": choose a shorter one");
  }
  AbstractAddress result;
  result.address.sun_family = AF_UNIX;
  std::memcpy(result.address.sun_path + 1, name.data(), name.size());
  result.num_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

Fd new_socket() { return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

}  // namespace

SocketResult listen_abstract(std::string_view name) {
  const AbstractAddress target = abstract_address(name);
  Fd socket = new_socket();
  if (!socket.valid()) return {Fd(), errno};
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&target.address), target.num_bytes) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return {Fd(), errno};
  }
  return {std::move(socket), 0};
}

SocketResult connect_abstract(std::string_view name) {
  const AbstractAddress target = abstract_address(name);
  Fd socket = new_socket();
  if (!socket.valid()) return {Fd(), errno};
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&target.address), target.num_bytes) != 0) {
    return {Fd(), errno == EINTR ? EAGAIN : errno};
  }
  return {std::move(socket), 0};
}

std::optional<Credentials> peer_credentials(int socket) {
  ucred raw{};
  socklen_t num_bytes = sizeof(raw);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &raw, &num_bytes) != 0) return std::nullopt;
  return Credentials{raw.pid, raw.uid};
}

}  // namespace ringtree
