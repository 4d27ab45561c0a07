// The set-up of TCP connections as one poll loop, like connect_mesh(): it calls the lower ranks of other hosts, is
// called by the higher ones and waits for no single one. A listener is open from before its address is published until
// the mesh stands, so a refused connection means that the rank has ended (or that something between the hosts refuses
// for it); the higher ranks that stay away are probed that way.
#include "core/bootstrap/connect_remote.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/bootstrap/rendezvous.h"
#include "core/net/handshake.h"
#include "core/net/socket.h"
#include "core/net/tcp_socket.h"

namespace ringtree {
namespace {

constexpr int64_t kHandshakeNs = 2'000'000'000;  // a caller that has not proved itself by then is dropped
constexpr int64_t kAttemptNs = 3'000'000'000;    // after which a call that got no answer is made again
constexpr int64_t kRetryNs = 50'000'000;         // between two calls to a rank that could not be reached
constexpr int64_t kProbeNs = 500'000'000;        // between two looks whether the missing higher ranks still exist
constexpr int64_t kNearlyNs = 1'000'000'000;     // so long before our own deadline others may have met theirs
constexpr int kTickMs = 10;

// The key of two ranks: who knows the secret and has read both identities. Made in one piece of memory, which the
// handshake wipes.
std::string key_of(const Secret& secret, const PeerIdentity& a, const PeerIdentity& b) {
  const PeerIdentity& low = a.rank < b.rank ? a : b;
  const PeerIdentity& high = a.rank < b.rank ? b : a;
  const std::string who = "ringtree ranks " + low.token + high.token;
  std::string key;
  key.reserve(who.size() + secret.bytes().size());
  return key.append(who).append(secret.bytes());
}

class Connector {
 public:
  Connector(const RemoteListeners& listeners, const std::vector<PeerIdentity>& identities,
            const std::vector<std::vector<Address>>& addresses, int rank, const Network& network,
            const std::vector<Fd>& local, Deadline deadline, RemoteSockets& made)
      : listeners_(listeners),
        identities_(identities),
        addresses_(addresses),
        rank_(rank),
        network_(network),
        local_(local),
        deadline_(deadline),
        made_(made) {
    const size_t n = identities.size();
    made_.control.resize(n);
    made_.streams.resize(n);
    for (const PeerIdentity& peer : identities_) {
      if (!is_remote(peer.rank)) continue;
      const size_t rails = std::min(listeners.addresses.size(), addresses[static_cast<size_t>(peer.rank)].size());
      const size_t streams = network.num_streams > 0 ? static_cast<size_t>(network.num_streams) : rails;
      made_.streams[static_cast<size_t>(peer.rank)].resize(streams);
      for (size_t index = 0; index <= streams && peer.rank < rank_; ++index)
        to_call_.push_back({peer.rank, static_cast<int>(index), now_ns()});
      num_missing_ += streams + 1;
    }
    max_pending_ = 2 * num_missing_ + 64;
  }

  void run() {
    while (num_missing_ > 0) {
      if (deadline_.passed()) throw_missing();
      for (size_t i = 0; i < to_call_.size();) {
        if (now_ns() < to_call_[i].at_ns) {
          ++i;
          continue;
        }
        const Call call = to_call_[i];
        to_call_.erase(to_call_.begin() + static_cast<std::ptrdiff_t>(i));
        begin_call(call);
      }
      if (now_ns() >= probe_at_ns_) probe_higher_ranks();
      poll_once();
    }
  }

 private:
  /// A connection that this rank is to make. Index 0 is control, the others are streams.
  struct Call {
    int peer = 0, index = 0;
    int64_t at_ns = 0;
  };
  struct Pending {
    Fd socket;
    int64_t give_up_ns = 0;
    bool is_ours = false;                     // else somebody called us
    Call call;                                // of ours
    bool connecting = false;                  // the kernel has not said yet that it is connected
    std::unique_ptr<CallerHandshake> caller;  // of a call
    std::unique_ptr<CalleeHandshake> callee;  // of one that was accepted
    bool only_probes = false;                 // of a look whether somebody listens there
    int claims = -1;                          // the rank that it says to be, where that rank may call us
  };

  const PeerIdentity& self() const { return identities_[static_cast<size_t>(rank_)]; }
  const PeerIdentity& peer(int rank) const { return identities_[static_cast<size_t>(rank)]; }
  bool is_remote(int rank) const { return rank != rank_ && !share_host(self(), peer(rank)); }

  size_t num_streams(int rank) const { return made_.streams[static_cast<size_t>(rank)].size(); }

  Fd& place_of(int rank, int index) {
    const size_t at = static_cast<size_t>(rank);
    return index == 0 ? made_.control[at] : made_.streams[at][static_cast<size_t>(index - 1)];
  }

  // Streams are spread over the rails: the i-th leaves from our i-th and goes to their i-th.
  SocketResult call_socket(int rank, int index) {
    const std::vector<Address>& theirs = addresses_[static_cast<size_t>(rank)];
    const size_t rail = static_cast<size_t>(std::max(index - 1, 0));
    const Address& to = theirs[rail % theirs.size()];
    const Address& own = listeners_.addresses[rail % listeners_.addresses.size()];
    const Address from = own.with_port(0);
    const bool bind_it = listeners_.addresses.size() > 1 && own.family() == to.family();
    return connect_tcp(to, bind_it ? &from : nullptr);
  }

  void begin_call(const Call& call) {
    SocketResult socket = call_socket(call.peer, call.index);
    if (socket.error != 0) return call_again(call, socket.error);
    Pending pending;
    pending.socket = std::move(socket.socket);
    pending.give_up_ns = now_ns() + kAttemptNs;
    pending.is_ours = true;
    pending.call = call;
    pending.connecting = true;
    const HandshakeRole role = call.index == 0 ? HandshakeRole::control : HandshakeRole::data;
    pending.caller =
        std::make_unique<CallerHandshake>(key_of(*network_.secret, self(), peer(call.peer)),
                                          Hello{role, static_cast<uint32_t>(rank_), static_cast<uint32_t>(call.peer),
                                                static_cast<uint16_t>(std::max(call.index - 1, 0))});
    pending_.push_back(std::move(pending));
  }

  void call_again(Call call, int error) {
    if (error == ECONNREFUSED) throw_ended(call.peer);
    if (error == EMFILE || error == ENFILE) throw_errno(error);
    last_error_ = error;
    call.at_ns = now_ns() + kRetryNs;
    to_call_.push_back(call);
  }

  void probe_higher_ranks() {
    probe_at_ns_ = now_ns() + kProbeNs;
    for (int higher = rank_ + 1; higher < static_cast<int>(identities_.size()); ++higher) {
      if (!is_remote(higher) || place_of(higher, 0).valid()) continue;
      SocketResult socket = call_socket(higher, 0);
      if (socket.error == ECONNREFUSED && !has_called(higher)) throw_ended(higher);
      if (socket.error != 0) continue;
      Pending probe;
      probe.socket = std::move(socket.socket);
      probe.give_up_ns = probe_at_ns_;
      probe.is_ours = true;
      probe.call = Call{higher, 0, 0};
      probe.connecting = probe.only_probes = true;
      pending_.push_back(std::move(probe));
    }
  }

  // With all its connections made its mesh stands and it listens no more; its last proof may lie here unread.
  bool has_called(int rank) const {
    return made_.control[static_cast<size_t>(rank)].valid() ||
           std::any_of(pending_.begin(), pending_.end(), [&](const Pending& p) { return p.claims == rank; });
  }

  void poll_once() {
    std::vector<pollfd> entries;
    for (const Fd& listener : listeners_.sockets) entries.push_back({listener.get(), POLLIN, 0});
    for (size_t i = 0; i < local_.size(); ++i) {
      const Fd& socket = made_.control[i].valid() ? made_.control[i] : local_[i];
      entries.push_back({socket.valid() ? socket.get() : -1, POLLRDHUP, 0});
    }
    const size_t first_pending = entries.size();
    for (const Pending& pending : pending_)
      entries.push_back({pending.socket.get(), static_cast<short>(pending.connecting ? POLLOUT : POLLIN), 0});
    if (::poll(entries.data(), entries.size(), poll_timeout_ms(deadline_, kTickMs)) <= 0) return drop_late();
    for (size_t i = 0; i < local_.size(); ++i)
      if (entries[listeners_.sockets.size() + i].revents != 0) throw_left(static_cast<int>(i));
    size_t index = first_pending;
    for (auto pending = pending_.begin(); pending != pending_.end();) {
      const bool keep = entries[index++].revents == 0 || advance(*pending);
      pending = keep ? std::next(pending) : pending_.erase(pending);
    }
    for (size_t i = 0; i < listeners_.sockets.size(); ++i)
      if (entries[i].revents != 0) accept_callers(listeners_.sockets[i]);
    drop_late();
  }

  void accept_callers(const Fd& listener) {
    for (size_t i = 0; i < max_pending_; ++i) {
      SocketResult result = accept_connection(listener.get());
      if (result.error == EAGAIN) return;
      if (result.error != 0) throw_errno(result.error);
      send_at_once(result.socket.get());
      Pending& pending = pending_.emplace_back();
      pending.socket = std::move(result.socket);
      pending.give_up_ns = now_ns() + kHandshakeNs;
      pending.callee = std::make_unique<CalleeHandshake>([this, &pending](const Hello& hello) {
        const std::optional<std::string> key = key_for(hello);
        if (key) pending.claims = static_cast<int>(hello.rank);
        return key;
      });
      if (pending_.size() > max_pending_) drop_one_caller();
    }
  }

  // Too many that prove nothing: one goes, and calls again if it is a rank. Those that were answered and those that
  // were not get half of the places each, so that neither kind keeps the other out; of its kind the oldest goes.
  void drop_one_caller() {
    const auto is_answered = [](const Pending& p) { return !p.is_ours && p.claims >= 0; };
    const auto num_answered = std::count_if(pending_.begin(), pending_.end(), is_answered);
    const bool answered = static_cast<size_t>(num_answered) > max_pending_ / 2;
    const auto goes = std::find_if(pending_.begin(), pending_.end(),
                                   [&](const Pending& p) { return !p.is_ours && is_answered(p) == answered; });
    if (goes != pending_.end()) pending_.erase(goes);
  }

  // Nothing: no such rank may call for that.
  std::optional<std::string> key_for(const Hello& hello) {
    if (hello.called_rank != static_cast<uint32_t>(rank_) || hello.rank >= identities_.size()) return std::nullopt;
    const int rank = static_cast<int>(hello.rank);
    if (rank <= rank_ || !is_remote(rank)) return std::nullopt;
    const std::optional<int> index = index_of(hello);
    if (!index || place_of(rank, *index).valid()) return std::nullopt;
    return key_of(*network_.secret, self(), peer(rank));
  }

  std::optional<int> index_of(const Hello& hello) const {
    if (hello.role == HandshakeRole::control) return 0;
    if (hello.role != HandshakeRole::data || hello.stream_index >= num_streams(static_cast<int>(hello.rank)))
      return std::nullopt;
    return hello.stream_index + 1;
  }

  // False: this connection is done with, one way or the other.
  bool advance(Pending& pending) {
    if (pending.connecting) return finish_connecting(pending);
    char buffer[64];
    const size_t wanted = pending.is_ours ? pending.caller->wanted() : pending.callee->wanted();
    const ssize_t got = ::recv(pending.socket.get(), buffer, std::min(wanted, sizeof buffer), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) {
      if (pending.is_ours) call_again(pending.call, got == 0 ? ECONNRESET : errno);
      if (pending.claims >= 0) ++num_refused_;  // it did not like our proof, so ours would not have liked its
      return false;
    }
    const std::string_view bytes(buffer, static_cast<size_t>(got));
    const HandshakeState state = pending.is_ours ? pending.caller->feed(bytes) : pending.callee->feed(bytes);
    const std::string answer = pending.is_ours ? pending.caller->take_output() : pending.callee->take_output();
    if (!answer.empty() && !write_all(pending.socket.get(), answer, Deadline{0})) {
      if (pending.is_ours) call_again(pending.call, ECONNRESET);
      return false;
    }
    if (state == HandshakeState::more) return true;
    if (state == HandshakeState::done) admit(pending);
    if (state == HandshakeState::refused) refuse(pending);
    return false;
  }

  bool finish_connecting(Pending& pending) {
    const int error = connect_error(pending.socket.get());
    if (error == EINPROGRESS) return true;
    if (pending.only_probes) {
      if (error == ECONNREFUSED && !has_called(pending.call.peer)) throw_ended(pending.call.peer);
      return false;
    }
    if (error != 0) {
      call_again(pending.call, error);
      return false;
    }
    pending.connecting = false;
    send_at_once(pending.socket.get());
    // A rank answers once it has all addresses, which may take it until the deadline: no shorter limit here.
    pending.give_up_ns = INT64_MAX;
    if (write_all(pending.socket.get(), pending.caller->first(), Deadline{0})) return true;
    call_again(pending.call, ECONNRESET);
    return false;
  }

  void admit(Pending& pending) {
    // A caller's index was found when it said who it is, else its key would have been none.
    const Call call = pending.is_ours ? pending.call
                                      : Call{static_cast<int>(pending.callee->hello().rank),
                                             index_of(pending.callee->hello()).value_or(0), 0};
    Fd& place = place_of(call.peer, call.index);
    if (place.valid()) return;  // two were under way for it
    place = std::move(pending.socket);
    --num_missing_;
  }

  void refuse(const Pending& pending) {
    if (pending.is_ours)
      throw PeerError(to_text(peer(pending.call.peer)) +
                      " could not prove that it knows our secret: give all ranks the same (RINGTREE_SECRET_FILE)");
    ++num_refused_;
  }

  void drop_late() {
    const int64_t now = now_ns();
    for (auto pending = pending_.begin(); pending != pending_.end();) {
      if (now < pending->give_up_ns) {
        ++pending;
        continue;
      }
      if (pending->is_ours && !pending->only_probes) call_again(pending->call, ETIMEDOUT);
      pending = pending_.erase(pending);
    }
  }

  // One that was connected. Near the deadline it has hardly died: it waited for the same ranks as this one.
  [[noreturn]] void throw_left(int rank) {
    if (deadline_.at_ns - now_ns() < kNearlyNs) throw_missing();
    throw_ended(rank);
  }

  [[noreturn]] void throw_ended(int rank) const {
    throw EndedPeer(rank,
                    to_text(peer(rank)) + " ended while rank " + std::to_string(rank_) +
                        " connected to it, or a firewall between the hosts refuses connections: look at its own error");
  }

  [[noreturn]] void throw_errno(int error) const {
    if (error == EMFILE || error == ENFILE) {
      size_t needed = 0;
      for (const PeerIdentity& other : identities_)
        if (is_remote(other.rank)) needed += num_streams(other.rank) + 1;
      throw WorldError("rank " + std::to_string(rank_) + " needs " + std::to_string(needed) +
                       " descriptors for ranks of other hosts and has too few: raise the limit (ulimit -n)");
    }
    throw WorldError(errno_text("rank " + std::to_string(rank_) + " cannot connect to its peers", error));
  }

  [[noreturn]] void throw_missing() {
    std::string list;
    for (const PeerIdentity& other : identities_) {
      if (!is_remote(other.rank)) continue;
      bool missing = false;
      for (size_t index = 0; index <= num_streams(other.rank); ++index)
        missing |= !place_of(other.rank, static_cast<int>(index)).valid();
      if (!missing) continue;
      list += (list.empty() ? "" : ", ") + to_text(other) + " at " +
              addresses_[static_cast<size_t>(other.rank)].front().to_text();
    }
    std::string text = "rank " + std::to_string(rank_) + " waited " + seconds_text(now_ns() - start_ns_) + " for " +
                       list + " to connect: check that the network lets them through and that they are not stopped";
    if (last_error_ != 0) text += errno_text("; the last attempt failed", last_error_);
    if (num_refused_ > 0)
      text += "; " + std::to_string(num_refused_) + " connections arrived that did not prove they know our secret";
    throw TimeoutError(text);
  }

  const RemoteListeners& listeners_;
  const std::vector<PeerIdentity>& identities_;
  const std::vector<std::vector<Address>>& addresses_;
  const int rank_;
  const Network& network_;
  const std::vector<Fd>& local_;
  const Deadline deadline_;
  const int64_t start_ns_ = now_ns();
  RemoteSockets& made_;
  size_t num_missing_ = 0;
  std::vector<Call> to_call_;
  std::list<Pending> pending_;
  size_t max_pending_ = 0;
  int64_t probe_at_ns_ = now_ns() + kProbeNs;
  int last_error_ = 0, num_refused_ = 0;
};

}  // namespace

void connect_remote(const RemoteListeners& listeners, const std::vector<PeerIdentity>& identities,
                    const std::vector<std::vector<Address>>& addresses, int rank, const Network& network,
                    const std::vector<Fd>& local, Deadline deadline, RemoteSockets& made) {
  Connector(listeners, identities, addresses, rank, network, local, deadline, made).run();
}

}  // namespace ringtree
