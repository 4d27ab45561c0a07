// The poll loop of a store's rank 0. Every bound that a client could press against is a constant here.
// No locks: the thread owns all state; others only signal stop_.
#include "core/bootstrap/store_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/helper_thread.h"
#include "core/bootstrap/unix_socket.h"
#include "core/net/tcp_socket.h"

namespace ringtree {
namespace {

constexpr size_t kMaxClients = 8192;  // a connection of each rank, and room for strangers
constexpr size_t kMaxStoredBytes = size_t{64} << 20;
constexpr size_t kReadBytes = size_t{64} << 10;
constexpr int64_t kSilenceNs = 5'000'000'000;    // until the first request
constexpr int64_t kHandshakeNs = 2'000'000'000;  // until a client has shown that it knows the key
constexpr int64_t kNoDescriptorPauseNs = 50'000'000;
constexpr int kLongestPollMs = 1000;

}  // namespace

StoreServer::StoreServer(Fd listener, std::optional<Secret> key)
    : key_(std::move(key)), listener_(std::move(listener)), stop_(make_event()), owner_pid_(::getpid()) {
  thread_ = start_helper_thread("rt-store", [this] { run(); });
}

StoreServer::~StoreServer() {
  if (::getpid() != owner_pid_) {
    // A forked child has a copy of this object but not the thread: nothing to stop, and nothing that join() could wait
    // for. The handle is leaked on purpose, since std::thread's destructor would end the child.
    new std::thread(std::move(thread_));
    return;
  }
  signal_event(stop_);
  thread_.join();
}

void StoreServer::run() {
  while (!stopped_) poll_once();
  for (Client& client : clients_) {
    if (!client.waits_for.empty()) answer(client, StoreFrameKind::closing, {});
  }
}

void StoreServer::poll_once() {
  const bool accepting = now_ns() >= accept_again_ns_;
  std::vector<pollfd> entries;
  entries.push_back({stop_.get(), POLLIN, 0});
  entries.push_back({accepting ? listener_.get() : -1, POLLIN, 0});  // poll ignores negative descriptors
  for (const Client& client : clients_) {
    // While it owes or awaits an answer a client is not read: its next request stays in its socket. Hang-ups show
    // anyway.
    const bool busy = !client.out.empty() || !client.waits_for.empty();
    entries.push_back({client.socket.get(), static_cast<short>(client.out.empty() ? (busy ? 0 : POLLIN) : POLLOUT), 0});
  }
  const int ready = ::poll(entries.data(), entries.size(), poll_timeout_ms({next_event_ns()}, kLongestPollMs));
  if (ready > 0) {
    stopped_ = entries[0].revents != 0;
    size_t index = 2;
    for (Client& client : clients_) serve(client, entries[index++].revents);
    if (entries[1].revents != 0) accept_clients();
  }
  expire();
  clients_.remove_if([](const Client& client) { return client.drop; });
}

void StoreServer::accept_clients() {
  for (size_t i = 0; i < kMaxClients; ++i) {
    SocketResult accepted = accept_connection(listener_.get());
    if (accepted.error != 0) {
      // Without a free descriptor the connection stays in the queue and poll would return at once, for ever: look away.
      if (accepted.error != EAGAIN) accept_again_ns_ = now_ns() + kNoDescriptorPauseNs;
      return;
    }
    if (!is_welcome(accepted.socket.get())) continue;
    make_room();
    clients_.emplace_back();
    clients_.back().socket = std::move(accepted.socket);
    clients_.back().came_at_ns = now_ns();
    if (!key_) continue;
    send_at_once(clients_.back().socket.get());
    clients_.back().handshake = std::make_unique<CalleeHandshake>([this](const Hello& hello) {
      return hello.role == HandshakeRole::store ? std::optional<std::string>(key_->bytes()) : std::nullopt;
    });
  }
}

bool StoreServer::is_welcome(int socket) const {
  if (key_) return true;  // it will have to show that it knows it
  const std::optional<Credentials> from = peer_credentials(socket);
  return from && (from->uid == ::geteuid() || from->uid == 0);
}

// Who says nothing must not keep others out: the one that has been silent for longest goes, and tries again if it is a
// rank. One that was answered would not know that it has to: only if there is no other.
void StoreServer::make_room() {
  if (clients_.size() < kMaxClients) return;
  auto silent = std::find_if(clients_.begin(), clients_.end(),
                             [](const Client& client) { return !client.spoke && !client.answered; });
  if (silent == clients_.end())
    silent = std::find_if(clients_.begin(), clients_.end(), [](const Client& client) { return !client.spoke; });
  if (silent != clients_.end()) clients_.erase(silent);
}

void StoreServer::serve(Client& client, short events) {
  if (client.drop || events == 0) return;
  if ((events & POLLOUT) != 0) flush(client);
  if ((events & POLLIN) != 0) receive(client);
  if ((events & (POLLERR | POLLHUP)) != 0 && (events & POLLIN) == 0) client.drop = true;
}

void StoreServer::shake_hands(Client& client) {
  char buffer[64];
  const size_t wanted = std::min(client.handshake->wanted(), sizeof buffer);
  const ssize_t got = ::recv(client.socket.get(), buffer, wanted, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    client.drop = true;
    return;
  }
  const HandshakeState state = client.handshake->feed({buffer, static_cast<size_t>(got)});
  const std::string answer = client.handshake->take_output();
  // So few bytes fit into a fresh socket, or it is broken.
  const bool sent = answer.empty() || ::send(client.socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL) ==
                                          static_cast<ssize_t>(answer.size());
  if (!sent || state == HandshakeState::refused) client.drop = true;
  client.answered = !answer.empty();
  if (state != HandshakeState::done) return;
  client.handshake.reset();
  client.spoke = true;  // one of ours, which may keep its connection for later
}

void StoreServer::receive(Client& client) {
  if (client.handshake) return shake_hands(client);
  char buffer[kReadBytes];
  const ssize_t got = ::recv(client.socket.get(), buffer, sizeof(buffer), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    client.drop = true;
    return;
  }
  client.in.append(buffer, static_cast<size_t>(got));
  while (!client.drop && client.in.size() >= kStoreHeaderBytes) {
    const std::optional<StoreHeader> header = decode_store_header(client.in);
    const bool request = header && (header->kind == StoreFrameKind::set || header->kind == StoreFrameKind::get);
    // Nobody of ours sends a request before the answer to the one before: what does is dropped.
    if (!request || !client.out.empty() || !client.waits_for.empty()) {
      client.drop = true;
      return;
    }
    if (client.in.size() < header->frame_bytes()) return;
    std::string key = client.in.substr(kStoreHeaderBytes, header->key_bytes);
    std::string value = client.in.substr(kStoreHeaderBytes + header->key_bytes, header->value_bytes);
    client.in.erase(0, header->frame_bytes());
    client.spoke = true;
    handle(client, *header, std::move(key), std::move(value));
  }
}

void StoreServer::handle(Client& client, const StoreHeader& header, std::string key, std::string value) {
  const auto found = values_.find(key);
  if (header.kind == StoreFrameKind::get) {
    if (found != values_.end()) return answer(client, StoreFrameKind::value, found->second);
    if (header.wait_ms == 0) return answer(client, StoreFrameKind::not_set, {});
    client.waits_for = std::move(key);
    client.wait_until_ns = now_ns() + int64_t{header.wait_ms} * 1'000'000;
    return;
  }
  const size_t replaced = found == values_.end() ? 0 : key.size() + found->second.size();
  const size_t total = num_stored_bytes_ - replaced + key.size() + value.size();
  if (total > kMaxStoredBytes) {
    return answer(client, StoreFrameKind::refused, "the store is full (64 MiB): store less in it");
  }
  num_stored_bytes_ = total;
  for (Client& other : clients_) {
    if (other.waits_for == key) {
      other.waits_for.clear();
      answer(other, StoreFrameKind::value, value);
    }
  }
  values_[std::move(key)] = std::move(value);
  answer(client, StoreFrameKind::value, {});
}

void StoreServer::answer(Client& client, StoreFrameKind kind, std::string_view value) {
  client.out = encode_store_frame(kind, {}, value);
  flush(client);
}

void StoreServer::flush(Client& client) {
  const ssize_t sent = ::send(client.socket.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
  if (sent >= 0) {
    client.out.erase(0, static_cast<size_t>(sent));
  } else if (errno != EAGAIN && errno != EINTR) {
    client.drop = true;
  }
}

void StoreServer::expire() {
  const int64_t now = now_ns();
  for (Client& client : clients_) {
    if (now >= silent_until_ns(client)) client.drop = true;
    if (!client.waits_for.empty() && now >= client.wait_until_ns) {
      client.waits_for.clear();
      answer(client, StoreFrameKind::not_set, {});
    }
  }
}

int64_t StoreServer::silent_until_ns(const Client& client) {
  if (client.handshake) return client.came_at_ns + kHandshakeNs;
  return client.spoke ? INT64_MAX : client.came_at_ns + kSilenceNs;
}

int64_t StoreServer::next_event_ns() const {
  int64_t next = now_ns() < accept_again_ns_ ? accept_again_ns_ : INT64_MAX;
  for (const Client& client : clients_) {
    next = std::min(next, silent_until_ns(client));
    if (!client.waits_for.empty()) next = std::min(next, client.wait_until_ns);
  }
  return next;
}

}  // namespace ringtree
