// See tcp_connect.h.
//   rank r                            rank l < r
//   take the port           <---      listen, tell the port over the mesh
//   connect
//   hello{r, token of r}    --->      check rank and token
// The kernel completes a connection before the other side accepts it, so nobody waits for somebody who waits.
#include "core/textbook/tcp_connect.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <list>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/bootstrap/unix_socket.h"
#include "core/bootstrap/wire.h"

namespace ringtree::textbook {
namespace {

constexpr int kLookMs = 20;
constexpr size_t kHelloBytes = 4 + kTokenBytes;
// Strangers that knock and say nothing are let go when there are so many.
constexpr size_t kMostPending = 64;

[[noreturn]] void fail(const char* what, int error) { throw WorldError(errno_text(what, error)); }

Fd tcp_socket() {
  Fd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) fail("cannot create a TCP socket", errno);
  return made;
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Listens on a port of the kernel's choice, which is returned.
std::pair<Fd, uint16_t> listen_on_loopback(int backlog) {
  Fd listener = tcp_socket();
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(listener.get(), backlog) != 0 ||
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
    fail("cannot listen on 127.0.0.1", errno);
  return {std::move(listener), ntohs(address.sin_port)};
}

class Connecting {
 public:
  Connecting(Mesh& mesh, Inbox& inbox, Watch& watch)
      : mesh_(mesh), inbox_(inbox), watch_(watch), sockets_(static_cast<size_t>(mesh.world_size())) {}

  std::vector<Fd> run() && {
    const auto [listener, port] = listen_on_loopback(mesh_.world_size() + static_cast<int>(kMostPending));
    for (int peer = mesh_.rank() + 1; peer < mesh_.world_size(); ++peer)
      mesh_.send(peer, ControlType::link, ByteWriter().number(port, 2).take());
    for (int peer = 0; peer < mesh_.rank(); ++peer) connect_to(peer);
    num_missing_ = mesh_.world_size() - 1 - mesh_.rank();
    while (num_missing_ > 0) admit(listener.get());
    return std::move(sockets_);
  }

 private:
  struct Pending {
    Fd socket;
    std::string hello;
  };

  void stop_if_asked(int awaited) {
    if (watch_.look(awaited)) watch_.raise();
    if (!watch_.is_gone(awaited)) return;
    watch_.fail_gone(awaited);
    watch_.raise();
  }

  void connect_to(int peer) {
    const Announcement announced = inbox_.take(peer, watch_);
    ByteReader reader(announced.payload);
    const sockaddr_in address = loopback(static_cast<uint16_t>(reader.number(2)));
    if (!reader.done()) throw WorldError(watch_.describe(peer) + " announced an invalid port");
    Fd socket = tcp_socket();
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      if (errno != EINPROGRESS) fail("cannot connect to 127.0.0.1", errno);
      pollfd entry{socket.get(), POLLOUT, 0};
      while (::poll(&entry, 1, kLookMs) <= 0) stop_if_asked(peer);
      int error = 0;
      socklen_t length = sizeof error;
      if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
      if (error != 0) fail("cannot connect to 127.0.0.1", error);
    }
    send_at_once(socket.get());
    const PeerIdentity& self = mesh_.peer(mesh_.rank());
    ByteWriter hello;
    hello.number(static_cast<uint64_t>(self.rank), 4).bytes(self.token);
    if (!write_all(socket.get(), hello.take(), Deadline::after_seconds(1.0)))
      throw WorldError(watch_.describe(peer) + " took no greeting");  // so few bytes always fit
    sockets_[static_cast<size_t>(peer)] = std::move(socket);
  }

  /// Waits for a moment and deals with whatever came.
  void admit(int listener) {
    const int missing = first_missing();
    const bool gone = watch_.is_gone(missing);  // before the look at what came: a peer may connect and leave
    std::vector<pollfd> entries{{listener, POLLIN, 0}};
    for (const Pending& one : pending_) entries.push_back({one.socket.get(), POLLIN, 0});
    ::poll(entries.data(), entries.size(), gone ? 0 : kLookMs);
    for (;;) {
      const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (accepted < 0) break;
      pending_.push_back({Fd(accepted), {}});
      if (pending_.size() > kMostPending) pending_.pop_front();
    }
    for (auto one = pending_.begin(); one != pending_.end();) one = hear(*one) ? std::next(one) : pending_.erase(one);
    if (sockets_[static_cast<size_t>(missing)].valid()) return;
    if (watch_.look(missing)) watch_.raise();
    if (gone) stop_if_asked(missing);
  }

  /// False: the connection has become a peer's, or is of no use.
  bool hear(Pending& from) {
    char room[kHelloBytes];
    const ssize_t got = ::recv(from.socket.get(), room, kHelloBytes - from.hello.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    from.hello.append(room, static_cast<size_t>(got));
    if (from.hello.size() < kHelloBytes) return true;
    ByteReader reader(from.hello);
    const uint64_t rank = reader.number(4);
    const std::string_view token = reader.bytes(kTokenBytes);
    if (rank <= static_cast<uint64_t>(mesh_.rank()) || rank >= sockets_.size() || sockets_[rank].valid() ||
        token != mesh_.peer(static_cast<int>(rank)).token)
      return false;
    send_at_once(from.socket.get());
    sockets_[rank] = std::move(from.socket);
    --num_missing_;
    return false;
  }

  int first_missing() const {
    int peer = mesh_.rank() + 1;
    while (sockets_[static_cast<size_t>(peer)].valid()) ++peer;
    return peer;
  }

  Mesh& mesh_;
  Inbox& inbox_;
  Watch& watch_;
  std::vector<Fd> sockets_;
  std::list<Pending> pending_;
  int num_missing_ = 0;
};

}  // namespace

std::vector<Fd> connect_peers(Mesh& mesh, Inbox& inbox, Watch& watch) { return Connecting(mesh, inbox, watch).run(); }

}  // namespace ringtree::textbook
