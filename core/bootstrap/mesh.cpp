// The mesh's monitor thread and its senders. They share the sockets only: the monitor reads, senders write, and neither
// ever waits for the other. Sockets are closed in close() alone, after the monitor has ended.
#include "core/bootstrap/mesh.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/helper_thread.h"
#include "core/bootstrap/connect_mesh.h"
#include "core/bootstrap/exchange.h"
#include "core/bootstrap/rendezvous.h"
#include "core/bootstrap/unix_socket.h"

namespace ringtree {
namespace {

constexpr double kSendSeconds = 2.0;
constexpr double kByeSeconds = 0.2;
constexpr int kSendPollMs = 20;
// So many reads of one peer before the others get their turn.
constexpr int kReadsATurn = 8;
// More than any socket's queue holds: enough to find a bye that a process sent before it ended.
constexpr int kReadsAtDeath = 4096;
constexpr size_t kMaxReasonBytes = 1024;

// Watches `peer`'s process. Only a pid of our own namespace means anything to us, and our own process we needn't watch.
Fd open_process(const PeerIdentity& self, const PeerIdentity& peer) {
  if (peer.pid == self.pid || peer.pid_namespace == 0 || peer.pid_namespace != self.pid_namespace) return Fd();
#ifdef SYS_pidfd_open
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
#else
  return Fd();
#endif
}

// Gives the kernel `bytes`, with descriptor `fd` beside the first of them, until it has them all, `deadline` passes or
// `cancelled` is set; `bytes` is then what it has not taken. True if it has all.
bool write(int socket, std::string_view& bytes, int fd, Deadline deadline, const std::atomic<bool>* cancelled) {
  while (!bytes.empty()) {
    iovec place{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    if (fd >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      cmsghdr* item = CMSG_FIRSTHDR(&message);
      item->cmsg_level = SOL_SOCKET;
      item->cmsg_type = SCM_RIGHTS;
      item->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(item), &fd, sizeof(fd));
    }
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      fd = -1;
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN || deadline.passed()) return false;
    pollfd entry{socket, POLLOUT, 0};
    ::poll(&entry, 1, poll_timeout_ms(deadline, kSendPollMs));
    // Acquire, pairs with the store in Mesh::close().
    if (deadline.passed() || (cancelled != nullptr && cancelled->load(std::memory_order_acquire))) return false;
  }
  return true;
}

}  // namespace

Mesh::Mesh(Store& store, int rank, int world_size, Deadline deadline, MeshEvents events, MeshOptions options)
    : owner_pid_(::getpid()), rank_(rank), events_(std::move(events)) {
  Rendezvous rendezvous(store, options.prefix, rank, world_size);
  Doors doors;
  rendezvous.guard(
      [&] {
        identities_ = {describe_self(rank, world_size, std::move(options.settings), options.network.host_id)};
        hosts_.assign(static_cast<size_t>(world_size), 0);
        if (world_size > 1) meet(rendezvous, store.spans_hosts(), options, deadline, doors);
      },
      [&] { doors = {}; });
  if (world_size == 1) return;
  const int64_t now = now_ns();
  for (int peer = 0; peer < world_size; ++peer) {
    peers_.push_back(peer == rank ? nullptr : std::make_unique<Peer>());
    if (peer == rank) continue;
    Fd& remote = doors.made.control.empty() ? doors.sockets[peer] : doors.made.control[peer];
    peers_[peer]->socket = std::move(remote.valid() ? remote : doors.sockets[peer]);
    if (!is_remote(peer)) peers_[peer]->process = open_process(identities_[rank], identities_[peer]);
    peers_[peer]->heard_ns.store(now, std::memory_order_relaxed);
  }
  streams_ = std::move(doors.made.streams);
  stop_ = make_event();
  monitor_ = start_helper_thread("rt-mesh", [this] { watch(); });
}

// Listeners are open from before they are published until all are connected: who has published itself and can no longer
// be called has ended.
void Mesh::meet(Rendezvous& rendezvous, bool may_span_hosts, const MeshOptions& options, Deadline deadline,
                Doors& doors) {
  PeerIdentity self = identities_.front();
  SocketResult listener = listen_abstract(self.socket_name);
  if (listener.error != 0)
    throw WorldError(errno_text("rank " + std::to_string(rank_) + " cannot listen", listener.error));
  doors.listener = std::move(listener.socket);
  if (may_span_hosts || !options.network.host_id.empty()) {
    try {  // whether it is needed turns out when all have met
      doors.remote = listen_for_remote(options.network, SOMAXCONN);
      for (const Address& address : doors.remote.addresses) self.addresses.push_back(address.to_text());
    } catch (const std::exception& error) {
      self.why_no_address = std::string(error.what()).substr(0, kMaxReasonBytes);
    }
  }
  identities_ = exchange_identities(rendezvous, self, deadline, options.why_one_host);
  hosts_ = hosts_of(identities_);
  const bool one_host = std::all_of(hosts_.begin(), hosts_.end(), [](int host) { return host == 0; });
  if (one_host) return connect_mesh(doors.listener, identities_, rank_, deadline, doors.sockets);
  const bool one_machine = std::all_of(identities_.begin(), identities_.end(), [&](const PeerIdentity& peer) {
    return peer.boot_id == self.boot_id && peer.network_namespace == self.network_namespace;
  });
  const std::vector<std::vector<Address>> addresses = remote_addresses(identities_, rank_, one_machine);
  own_address_ = doors.remote.addresses.front().with_port(0);
  connect_mesh(doors.listener, identities_, rank_, deadline, doors.sockets);
  connect_remote(doors.remote, identities_, addresses, rank_, options.network, doors.sockets, deadline, doors.made);
}

Mesh::~Mesh() { close(); }

std::vector<int> Mesh::streams_to(int rank) const {
  std::vector<int> sockets;
  for (const Fd& stream : streams_.at(static_cast<size_t>(rank))) sockets.push_back(stream.get());
  return sockets;
}

bool Mesh::forked() const { return ::getpid() != owner_pid_; }

bool Mesh::send(int peer, ControlType type, std::string_view payload, int fd) {
  if (peer < 0 || peer >= world_size() || peer == rank_) {
    throw UsageError("rank " + std::to_string(rank_) + " has no peer " + std::to_string(peer) + ": its world size is " +
                     std::to_string(world_size()));
  }
  if (type != ControlType::link && type != ControlType::abort && type != ControlType::status)
    throw UsageError("only link, abort and status messages can be sent");
  if (fd >= 0 && is_remote(peer))
    throw UsageError("no descriptor can be sent to " + to_text(identities_[peer]) + ", which is on another host");
  if (payload.size() > kMaxControlPayloadBytes) {
    throw UsageError("a control message has at most " + std::to_string(kMaxControlPayloadBytes) +
                     " bytes, this one has " + std::to_string(payload.size()) + ": send it in parts");
  }
  if (forked()) {
    throw UsageError("this process is a fork of " + to_text(identities_[rank_]) +
                     ": a communicator does not survive fork, make a new one in the child");
  }
  const std::string frame = encode_control_frame(type, payload, fd >= 0);
  if (type == ControlType::status) return send_status(*peers_[peer], frame);
  return send_frame(*peers_[peer], frame, fd, Deadline::after_seconds(kSendSeconds), &closing_);
}

bool Mesh::send_frame(Peer& peer, std::string_view frame, int fd, Deadline deadline,
                      const std::atomic<bool>* cancelled) {
  const std::lock_guard<std::mutex> lock(peer.sending);
  // Acquire (here and below), pairs with the store in close(), which then waits for our mutex: we must not outstay it,
  // and nothing may follow the bye.
  if (cancelled != nullptr && cancelled->load(std::memory_order_acquire)) return false;
  // Relaxed, pairs with the store in set_gone(): a hint that saves a system call; a late look only finds the socket
  // shut.
  if (!peer.socket.valid() || peer.gone.load(std::memory_order_relaxed)) return false;
  std::string_view rest = peer.rest;
  const bool first = write(peer.socket.get(), rest, -1, deadline, cancelled);
  peer.rest.erase(0, peer.rest.size() - rest.size());
  if (!first) return false;
  const size_t frame_bytes = frame.size();
  if (write(peer.socket.get(), frame, fd, deadline, cancelled)) return true;
  // Half a frame would make nonsense of all that follows it: end the connection, both sides will see that.
  if (frame.size() < frame_bytes) ::shutdown(peer.socket.get(), SHUT_RDWR);
  return false;
}

// Also of the monitor thread, which must not wait for a peer that reads nothing: it hears and beats for all.
bool Mesh::send_status(Peer& peer, std::string_view frame) {
  const std::lock_guard<std::mutex> lock(peer.sending);
  if (closing_.load(std::memory_order_acquire)) return false;  // as in send_frame()
  if (!peer.socket.valid() || peer.gone.load(std::memory_order_relaxed)) return false;
  std::string_view rest = peer.rest;
  const bool first = write(peer.socket.get(), rest, -1, Deadline{0}, nullptr);
  peer.rest.erase(0, peer.rest.size() - rest.size());
  if (!first) return false;
  const size_t frame_bytes = frame.size();
  write(peer.socket.get(), frame, -1, Deadline{0}, nullptr);
  if (frame.size() < frame_bytes) peer.rest = frame;
  return frame.size() < frame_bytes;
}

void Mesh::watch() {
  std::vector<pollfd> entries(1 + 2 * peers_.size());
  int64_t next_beat_ns = now_ns() + kBeatNs;
  for (;;) {
    entries[0] = {stop_.get(), POLLIN, 0};
    for (size_t i = 0; i < peers_.size(); ++i) {
      // Relaxed: only this thread writes `gone`.
      const bool watched = peers_[i] != nullptr && !peers_[i]->gone.load(std::memory_order_relaxed);
      entries[1 + 2 * i] = {watched ? peers_[i]->socket.get() : -1, POLLIN, 0};
      entries[2 + 2 * i] = {watched ? peers_[i]->process.get() : -1, POLLIN, 0};
    }
    const int wait_ms = poll_timeout_ms(Deadline{next_beat_ns}, static_cast<int>(kBeatNs / 1'000'000));
    if (::poll(entries.data(), entries.size(), wait_ms) < 0) continue;  // EINTR at most: the entries are ours
    if (entries[0].revents != 0) return;
    for (size_t i = 0; i < peers_.size(); ++i) {
      const int peer = static_cast<int>(i);
      const bool ended = entries[2 + 2 * i].revents != 0;
      if (ended || entries[1 + 2 * i].revents != 0) read(peer, ended ? kReadsAtDeath : kReadsATurn);
      if (ended) set_gone(peer, false);
    }
    beat_if_due(next_beat_ns);  // after all that came was read: who was stopped itself finds that the others live
  }
}

void Mesh::beat_if_due(int64_t& next_ns) {
  const int64_t now = now_ns();
  if (now < next_ns) return;
  next_ns = now + kBeatNs;
  if (events_.on_beat && !closing_.load(std::memory_order_acquire)) events_.on_beat();  // pairs with close()
}

void Mesh::read(int peer, int max_reads) {
  Peer& from = *peers_[peer];
  // Sequentially consistent, pairs with the load in has_unread(): who finds the socket empty because we emptied it sees
  // this too.
  from.reading.store(true, std::memory_order_seq_cst);
  for (int i = 0; i < max_reads; ++i) {
    std::vector<ControlMessage> messages;
    const FrameReader::State state = from.reader.read(from.socket.get(), messages);
    if (state == FrameReader::State::more) from.heard_ns.store(now_ns(), std::memory_order_relaxed);
    if (!deliver(peer, messages)) break;
    if (state == FrameReader::State::closed || state == FrameReader::State::broken) set_gone(peer, false);
    if (state != FrameReader::State::more) break;
  }
  from.reading.store(false, std::memory_order_release);  // pairs with the load in has_unread(): all is delivered
}

bool Mesh::has_unread(int peer) const {
  Peer* from = peers_.empty() ? nullptr : peers_[static_cast<size_t>(peer)].get();
  if (from == nullptr) return false;
  const std::unique_lock<std::mutex> no_close(from->sending, std::try_to_lock);  // as in close()
  if (!no_close) return true;
  if (!from->socket.valid()) return false;
  pollfd entry{from->socket.get(), POLLIN, 0};
  // Who is gone has nothing to say: its socket is at its end, which poll reports for ever.
  if (!from->gone.load(std::memory_order_relaxed) && ::poll(&entry, 1, 0) > 0) return true;
  return from->reading.load(
      std::memory_order_seq_cst);  // after the look at the socket; pairs with the stores in read()
}

// False when the peer is gone.
bool Mesh::deliver(int peer, std::vector<ControlMessage>& messages) {
  for (ControlMessage& message : messages) {
    // Acquire, pairs with the store in close(): nothing is delivered once we leave.
    if (closing_.load(std::memory_order_acquire)) return false;
    switch (message.type) {
      case ControlType::bye:
        if (events_.on_message && !message.payload.empty())
          events_.on_message(peer, ControlType::status, std::move(message.payload), -1);
        set_gone(peer, true);
        return false;
      case ControlType::hello:
        set_gone(peer, false);
        return false;
      case ControlType::link:
      case ControlType::abort:
      case ControlType::status:
        if (events_.on_message) {
          events_.on_message(peer, message.type, std::move(message.payload), message.descriptor.release());
        }
    }
  }
  return true;
}

void Mesh::set_gone(int peer, bool said_bye) {
  // Relaxed exchange: only this thread writes it. Pairs with the load in send_frame().
  if (peers_[peer]->gone.exchange(true, std::memory_order_relaxed)) return;
  ::shutdown(peers_[peer]->socket.get(), SHUT_RDWR);  // wakes a sender that waits for room
  // Acquire, pairs with the store in close(): a peer that shuts its end because of our bye did not die.
  if (events_.on_gone && !closing_.load(std::memory_order_acquire)) events_.on_gone(peer, said_bye);
}

// A TCP socket that is closed while something unread lies in it takes back what was not yet acknowledged.
void Mesh::await_bye_of_remote(Deadline deadline) {
  for (size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i] == nullptr || !is_remote(static_cast<int>(i))) continue;
    const int socket = peers_[i]->socket.get();
    ::shutdown(socket, SHUT_WR);
    while (!peers_[i]->gone.load(std::memory_order_relaxed) && !all_acknowledged(socket) && !deadline.passed())
      ::poll(nullptr, 0, 1);
  }
}

void Mesh::close() {
  if (forked()) {
    // The thread does not exist here, and mutexes may be held by threads that don't either. The handle is leaked on
    // purpose: std::thread's destructor would end the child.
    if (monitor_.joinable()) new std::thread(std::move(monitor_));
    for (const std::unique_ptr<Peer>& peer : peers_) {
      if (peer != nullptr) peer->socket.reset();
    }
    streams_ = std::vector<std::vector<Fd>>(streams_.size());
    return;
  }
  // Release, pairs with the loads in send_frame(), deliver() and set_gone(): senders give up and events end.
  closing_.store(true, std::memory_order_release);
  const std::lock_guard<std::mutex> lock(close_mutex_);
  if (!monitor_.joinable()) return;
  assert(std::this_thread::get_id() != monitor_.get_id() && "close() called from an event of the mesh");
  const std::string bye =
      encode_control_frame(ControlType::bye, events_.last_status ? events_.last_status() : std::string(), false);
  const Deadline deadline = Deadline::after_seconds(kByeSeconds);
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer != nullptr) send_frame(*peer, bye, -1, deadline, nullptr);
  }
  await_bye_of_remote(deadline);
  signal_event(stop_);
  monitor_.join();
  streams_ = std::vector<std::vector<Fd>>(streams_.size());  // of those what nobody took
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer == nullptr) continue;
    const std::lock_guard<std::mutex> no_sender(peer->sending);
    peer->socket.reset();
    peer->process.reset();
  }
}

}  // namespace ringtree
