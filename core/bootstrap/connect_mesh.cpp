// The set-up of the mesh as one poll loop: it calls the lower ranks, is called by the higher ones and waits for no
// single one.
//   rank r                          rank l < r
//   connect, check credentials
//   hello{r, token of r}     --->   check credentials, rank and token
//   check                    <---   hello{l, token of l}
// A rank's listener is open exactly from before it publishes itself until its mesh stands or it fails. So while a rank
// is missing here, a refused connection to it proves that it ended: the higher ranks that stay away are probed that
// way.
#include "core/bootstrap/connect_mesh.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/bootstrap/control_message.h"
#include "core/bootstrap/rendezvous.h"
#include "core/bootstrap/store.h"
#include "core/bootstrap/unix_socket.h"

namespace ringtree {
namespace {

constexpr int64_t kHelloNs = 2'000'000'000;  // a caller that has not said hello by then is dropped
constexpr int64_t kRetryNs = 10'000'000;     // between two calls to a rank that was busy
constexpr int64_t kProbeNs = 250'000'000;    // between two looks whether the missing higher ranks still exist
constexpr int kTickMs = 10;

class Connector {
 public:
  Connector(const Fd& listener, const std::vector<PeerIdentity>& identities, int rank, Deadline deadline,
            std::vector<Fd>& sockets)
      : listener_(listener), identities_(identities), rank_(rank), deadline_(deadline), sockets_(sockets) {
    sockets_.resize(identities.size());
    for (const PeerIdentity& peer : identities) num_missing_ += is_local(peer.rank) ? 1 : 0;
    for (int lower = 0; lower < rank; ++lower) call_at_ns_.push_back(is_local(lower) ? now_ns() : INT64_MAX);
    max_pending_ = 2 * identities.size() + 16;
  }

  void run() {
    while (num_missing_ > 0) {
      if (deadline_.passed()) throw_missing();
      for (int lower = 0; lower < rank_; ++lower) {
        if (now_ns() >= call_at_ns_[lower]) call(lower);
      }
      if (now_ns() >= probe_at_ns_) probe_higher_ranks();
      poll_once();
    }
  }

 private:
  struct Pending {
    Fd socket;
    std::string in;  // the part of the peer's hello that is here
    int64_t give_up_ns;
    int called;  // the lower rank that we called, -1: somebody called us
  };

  const PeerIdentity& self() const { return identities_[rank_]; }
  bool is_local(int peer) const { return peer != rank_ && share_host(self(), identities_[peer]); }

  // Is the process at the other end one that may be rank `peer`? A pid counts only where both see the same numbers.
  bool credentials_fit(int socket, int peer) const {
    const std::optional<Credentials> actual = peer_credentials(socket);
    if (!actual || actual->uid != self().uid) return false;
    const PeerIdentity& claimed = identities_[peer];
    const bool same_numbers = claimed.pid_namespace != 0 && claimed.pid_namespace == self().pid_namespace;
    return !same_numbers || actual->pid == claimed.pid;
  }

  void call(int lower) {
    SocketResult result = connect_abstract(identities_[lower].socket_name);
    call_at_ns_[lower] = now_ns() + kRetryNs;
    if (result.error == ECONNREFUSED) throw_ended(lower);
    if (result.error == EAGAIN) return;  // its queue is full: later
    if (result.error != 0) throw_errno(result.error);
    if (!credentials_fit(result.socket.get(), lower)) throw_ended(lower);
    if (!say_hello(result.socket.get())) return;
    call_at_ns_[lower] = INT64_MAX;
    // The lower rank answers once it has all identities, which may take it until the deadline: no shorter limit here.
    pending_.push_back({std::move(result.socket), {}, INT64_MAX, lower});
  }

  // A fresh socket takes a frame this small at once or is broken.
  bool say_hello(int socket) const { return write_all(socket, encode_hello_frame({rank_, self().token}), Deadline{0}); }

  void probe_higher_ranks() {
    probe_at_ns_ = now_ns() + kProbeNs;
    for (size_t higher = static_cast<size_t>(rank_) + 1; higher < identities_.size(); ++higher) {
      if (!is_local(static_cast<int>(higher)) || sockets_[higher].valid()) continue;
      if (connect_abstract(identities_[higher].socket_name).error == ECONNREFUSED)
        throw_ended(static_cast<int>(higher));
    }
  }

  void poll_once() {
    std::vector<pollfd> entries{{listener_.get(), POLLIN, 0}};
    for (const Pending& pending : pending_) entries.push_back({pending.socket.get(), POLLIN, 0});
    if (::poll(entries.data(), entries.size(), poll_timeout_ms(deadline_, kTickMs)) <= 0) return drop_late();
    size_t index = 1;
    for (auto pending = pending_.begin(); pending != pending_.end();) {
      const bool keep = entries[index++].revents == 0 || advance(*pending);
      pending = keep ? std::next(pending) : pending_.erase(pending);
    }
    if (entries[0].revents != 0) accept_callers();
    drop_late();
  }

  void accept_callers() {
    for (size_t i = 0; i < max_pending_; ++i) {
      SocketResult result = accept_connection(listener_.get());
      if (result.error == EAGAIN) return;
      if (result.error != 0) throw_errno(result.error);
      const std::optional<Credentials> caller = peer_credentials(result.socket.get());
      if (!caller || caller->uid != self().uid) continue;
      pending_.push_back({std::move(result.socket), {}, now_ns() + kHelloNs, -1});
      if (pending_.size() <= max_pending_) continue;
      // Too many that say nothing: the one that has been silent for longest goes. A rank among them calls again.
      pending_.erase(std::find_if(pending_.begin(), pending_.end(), [](const Pending& p) { return p.called < 0; }));
    }
  }

  // Reads what has come of a hello. False: this connection is done with, one way or the other.
  bool advance(Pending& pending) {
    char buffer[kHelloFrameBytes];
    const ssize_t got = ::recv(pending.socket.get(), buffer, kHelloFrameBytes - pending.in.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) {
      if (pending.called >= 0) call_at_ns_[pending.called] = now_ns() + kRetryNs;
      return false;
    }
    pending.in.append(buffer, static_cast<size_t>(got));
    if (pending.in.size() < kHelloFrameBytes) return true;
    finish(pending);
    return false;
  }

  void finish(Pending& pending) {
    const std::optional<MeshHello> hello = decode_hello_frame(pending.in);
    if (pending.called >= 0) {
      const bool right = hello && hello->rank == pending.called && hello->token == identities_[pending.called].token;
      if (!right) throw_ended(pending.called);
      return admit(pending.called, pending);
    }
    const bool right = hello && hello->rank > rank_ && static_cast<size_t>(hello->rank) < identities_.size() &&
                       is_local(hello->rank) && !sockets_[hello->rank].valid() &&
                       hello->token == identities_[hello->rank].token &&
                       credentials_fit(pending.socket.get(), hello->rank);
    if (right && say_hello(pending.socket.get())) admit(hello->rank, pending);
  }

  void admit(int peer, Pending& pending) {
    sockets_[peer] = std::move(pending.socket);
    --num_missing_;
  }

  void drop_late() {
    pending_.remove_if([now = now_ns()](const Pending& pending) { return now >= pending.give_up_ns; });
  }

  [[noreturn]] void throw_ended(int peer) const {
    throw EndedPeer(
        peer,
        to_text(identities_[peer]) + " ended while rank " + std::to_string(rank_) +
            " connected to it: look at its own error, or use a fresh store (this one may hold an earlier job's ranks)");
  }

  [[noreturn]] void throw_errno(int error) const {
    if (error == EMFILE || error == ENFILE) {
      throw WorldError("rank " + std::to_string(rank_) + " needs a descriptor for each of " +
                       std::to_string(identities_.size()) + " ranks and has too few: raise the limit (ulimit -n)");
    }
    throw WorldError(errno_text("rank " + std::to_string(rank_) + " cannot connect to its peers", error));
  }

  [[noreturn]] void throw_missing() const {
    std::string list;
    for (const PeerIdentity& peer : identities_) {
      if (is_local(peer.rank) && !sockets_[peer.rank].valid()) list += (list.empty() ? "" : ", ") + to_text(peer);
    }
    throw TimeoutError("rank " + std::to_string(rank_) + " waited " + seconds_text(now_ns() - start_ns_) + " for " +
                       list + " to connect: check whether it is stopped or still waits for another rank");
  }

  const Fd& listener_;
  const std::vector<PeerIdentity>& identities_;
  const int rank_;
  const Deadline deadline_;
  const int64_t start_ns_ = now_ns();
  std::vector<Fd>& sockets_;
  size_t num_missing_ = 0;
  std::list<Pending> pending_;
  size_t max_pending_ = 0;
  std::vector<int64_t> call_at_ns_;  // by lower rank: when to call it next; INT64_MAX: a call is under way or done
  int64_t probe_at_ns_ = now_ns() + kProbeNs;
};

}  // namespace

void connect_mesh(const Fd& listener, const std::vector<PeerIdentity>& identities, int rank, Deadline deadline,
                  std::vector<Fd>& sockets) {
  Connector(listener, identities, rank, deadline, sockets).run();
}

}  // namespace ringtree
