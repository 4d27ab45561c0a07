// See tcp_store.h.
#include "core/bootstrap/tcp_store.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/net/handshake.h"
#include "core/net/socket.h"
#include "core/net/tcp_socket.h"

namespace ringtree {
namespace {

constexpr double kConnectSeconds = 2.0;  // one attempt at one address
constexpr double kHandshakeSeconds = 2.0;

Secret key_of(const Secret& secret) {
  constexpr std::string_view kWho = "ringtree store ";
  std::string key;
  key.reserve(kWho.size() + secret.bytes().size());  // one piece of memory, which is wiped here
  key.append(kWho).append(secret.bytes());
  Secret kept = Secret::of(key);
  ::explicit_bzero(key.data(), key.size());
  return kept;
}

void require_secret(const Address& address, const Secret& secret) {
  if (!secret.empty() || address.is_loopback()) return;
  throw UsageError("a store on " + address.to_text() +
                   " needs a secret, or anybody on the network could join: write one into a file that only you can "
                   "read and set RINGTREE_SECRET_FILE to its path on every rank");
}

}  // namespace

TcpStore::TcpStore(const std::string& host, uint16_t port, int rank, std::shared_ptr<const Secret> secret,
                   Deadline deadline, double stranger_seconds)
    : SocketStore("the store at " + host + ":" + std::to_string(port)),
      host_(host),
      port_(port),
      rank_(rank),
      secret_(std::move(secret)),
      stranger_ns_(static_cast<int64_t>(stranger_seconds * 1e9)) {
  if (rank < 0) throw UsageError("rank " + std::to_string(rank) + " does not exist: ranks count from 0");
  if (rank == 0) listen();
  if (port_ == 0) throw UsageError("only rank 0 may leave the choice of a port to the system");
  open(deadline);
}

TcpStore::TcpStore(Fd listener, const Address& address, std::shared_ptr<const Secret> secret, Deadline deadline)
    : SocketStore("the store at " + address.to_text()),
      host_(address.host_text()),
      port_(address.port()),
      rank_(0),
      secret_(std::move(secret)) {
  require_secret(address, *secret_);
  serve_on(std::move(listener), address);
  open(deadline);
}

void TcpStore::serve_on(Fd listener, const Address& address) {
  address_ = address;
  port_ = address.port();
  serve(std::make_unique<StoreServer>(std::move(listener), key_of(*secret_)));
}

void TcpStore::listen() {
  const std::vector<Address> addresses = resolve(host_, port_);
  int error = 0;
  for (const Address& address : addresses) {
    require_secret(address, *secret_);
    SocketResult listener = listen_tcp(address, SOMAXCONN);
    if (listener.error == 0) {
      const std::optional<Address> at = local_address(listener.socket.get());
      if (!at) throw WorldError(errno_text(name() + " cannot tell where it listens", errno));
      return serve_on(std::move(listener.socket), *at);
    }
    error = listener.error;
  }
  if (error == EADDRINUSE)
    throw UsageError(name() + " cannot listen, as another process has the port: choose another, or port 0");
  if (error == EADDRNOTAVAIL)
    throw UsageError(name() + " cannot listen here: rank 0 must run on the host that has this address");
  throw WorldError(errno_text(name() + " cannot listen", error));
}

Fd TcpStore::connect(Deadline deadline) {
  const int64_t start_ns = now_ns();
  // Since when somebody there keeps connections and says nothing; 0: nobody does. Proxies that take connections before
  // rank 0 listens behind them hang up.
  int64_t met_stranger_ns = 0;
  std::string last;  // what went wrong
  for (int64_t pause_ns = kFirstPauseNs;; back_off(pause_ns, deadline)) {
    std::optional<Address> stranger;
    bool has_answered = false;
    const int64_t tried_ns = now_ns();
    for (const Address& address : resolve(host_, port_)) {
      require_secret(address, *secret_);
      SocketResult connecting = connect_tcp(address, nullptr);
      int error = connecting.error;
      if (error == 0) {
        const Deadline soon{std::min(deadline.at_ns, Deadline::after_seconds(kConnectSeconds).at_ns)};
        error = wait_for(connecting.socket.get(), POLLOUT, soon) ? connect_error(connecting.socket.get()) : ETIMEDOUT;
      }
      if (error != 0) {
        if (!has_answered) last = errno_text("the last attempt failed", error);
        continue;
      }
      const Met met = shake_hands(address, connecting.socket.get(), deadline);
      if (met == Met::rank_0) {
        if (address_.port() == 0) address_ = address;  // in the constructor: later, threads may connect at once
        return std::move(connecting.socket);
      }
      has_answered = true;
      const bool cut_short = deadline.passed();  // says less than the attempts before
      if (last.empty() || !cut_short)
        last = "the process listening at " + address.to_text() +
               (met == Met::silent ? " does not answer" : " closes the connection");
      if (met == Met::silent && !cut_short) stranger = address;
    }
    if (!stranger) met_stranger_ns = 0;
    if (stranger && met_stranger_ns == 0) met_stranger_ns = tried_ns;
    if (stranger && address_.port() == 0)
      check_patience(*stranger, met_stranger_ns);  // later, it is known to be rank 0
    if (deadline.passed())
      throw TimeoutError("rank 0 did not open " + name() + " within " + seconds_text(now_ns() - start_ns) +
                             ": check that it was started, that this host reaches it, and that all ranks have the same "
                             "secret; " +
                             last,
                         {0});
  }
}

TcpStore::Met TcpStore::shake_hands(const Address& address, int socket, Deadline deadline) const {
  send_at_once(socket);
  CallerHandshake handshake(std::string(key_of(*secret_).bytes()),
                            Hello{HandshakeRole::store, static_cast<uint32_t>(rank_), 0, 0});
  const Deadline soon{std::min(deadline.at_ns, Deadline::after_seconds(kHandshakeSeconds).at_ns)};
  if (perform(handshake, socket, soon)) return Met::rank_0;
  if (handshake.state() != HandshakeState::refused) return soon.passed() ? Met::silent : Met::hangs_up;
  throw UsageError("the process listening at " + address.to_text() +
                   " does not know our secret: give all ranks the same (RINGTREE_SECRET_FILE), and each job a port "
                   "that no other program has");
}

void TcpStore::check_patience(const Address& stranger, int64_t since_ns) const {
  const int64_t for_ns = now_ns() - since_ns;
  if (for_ns <= stranger_ns_) return;
  throw UsageError("the process listening at " + stranger.to_text() + " has not answered like rank 0 for " +
                   seconds_text(for_ns) + ": another program has the port (choose another), or rank 0 hangs");
}

}  // namespace ringtree
