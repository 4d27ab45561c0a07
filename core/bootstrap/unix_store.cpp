// The clients' side of the store on an abstract Unix socket, and rank 0's wiring of the server. Rank 0 asks its own
// server over a socket like everybody else: one code path.
#include "core/bootstrap/unix_store.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/bootstrap/unix_socket.h"

namespace ringtree {
namespace {

constexpr size_t kMaxIdBytes = 80;
constexpr int64_t kFirstPauseNs = 1'000'000;
constexpr int64_t kLongestPauseNs = 20'000'000;
// An answer that the server owes at once gets this long even when the caller's deadline has passed.
constexpr double kAnswerSeconds = 1.0;
constexpr double kSetSeconds = 10.0;
constexpr int64_t kLongestWaitMs = 3'600'000;

// Sleeps for `pause_ns`, at most until the deadline, and doubles the pause.
void back_off(int64_t& pause_ns, Deadline deadline) {
  const int64_t left_ns = std::max<int64_t>(deadline.at_ns - now_ns(), 0);
  const timespec pause{0, static_cast<long>(std::min(left_ns, pause_ns))};
  ::nanosleep(&pause, nullptr);
  pause_ns = std::min(2 * pause_ns, kLongestPauseNs);
}

}  // namespace

UnixStore::UnixStore(const std::string& id, int rank, Deadline deadline) : id_(id) {
  if (id.empty() || id.size() > kMaxIdBytes) {
    throw UsageError("a job's id has 1 to 80 bytes, this one has " + std::to_string(id.size()) + ": choose another");
  }
  if (rank < 0) throw UsageError("rank " + std::to_string(rank) + " does not exist: ranks count from 0");
  socket_name_ = "ringtree-" + std::to_string(::geteuid()) + "-" + id;
  if (rank == 0) {
    SocketResult listener = listen_abstract(socket_name_);
    if (listener.error == EADDRINUSE) {
      throw UsageError("another job on this host uses id '" + id +
                       "'; choose another, or wait until that job has ended");
    }
    if (listener.error != 0) throw WorldError(errno_text("the store of id '" + id + "' cannot listen", listener.error));
    server_ = std::make_unique<StoreServer>(std::move(listener.socket));
  }
  idle_.push_back(connect(deadline));
}

Fd UnixStore::connect(Deadline deadline) const {
  const int64_t start_ns = now_ns();
  for (int64_t pause_ns = kFirstPauseNs;; back_off(pause_ns, deadline)) {
    SocketResult connected = connect_abstract(socket_name_);
    if (connected.error == 0) {
      const std::optional<Credentials> server = peer_credentials(connected.socket.get());
      if (server && server->uid != ::geteuid() && server->uid != 0) {
        throw UsageError("the store of id '" + id_ + "' is held by a process of user " + std::to_string(server->uid) +
                         ", not ours: choose another id");
      }
      return std::move(connected.socket);
    }
    if (connected.error != ECONNREFUSED && connected.error != EAGAIN) {
      throw WorldError(errno_text("the store of id '" + id_ + "' cannot be reached", connected.error));
    }
    if (deadline.passed()) {
      throw TimeoutError("rank 0 did not open the store of id '" + id_ + "' within " +
                         seconds_text(now_ns() - start_ns) +
                         ": check that rank 0 was started, on this host and with the same id");
    }
  }
}

void UnixStore::set(const std::string& key, const std::string& value) {
  check_store_key(key);
  check_store_value(key, value);
  const Answer answer =
      ask(encode_store_frame(StoreFrameKind::set, key, value), key, Deadline::after_seconds(kSetSeconds));
  if (answer.kind == StoreFrameKind::refused) throw WorldError("store key '" + key + "' was refused: " + answer.value);
}

std::string UnixStore::get(const std::string& key, Deadline deadline) {
  check_store_key(key);
  const int64_t start_ns = now_ns();
  for (;;) {
    const int64_t left_ms = std::clamp<int64_t>((deadline.at_ns - now_ns()) / 1'000'000, 0, kLongestWaitMs);
    const Deadline answer_by{std::max(deadline.at_ns, Deadline::after_seconds(kAnswerSeconds).at_ns)};
    const std::string request = encode_store_frame(StoreFrameKind::get, key, {}, static_cast<uint32_t>(left_ms));
    Answer answer = ask(request, key, answer_by);
    if (answer.kind == StoreFrameKind::value) return std::move(answer.value);
    if (left_ms == 0) throw TimeoutError(store_timeout_text(key, start_ns));
  }
}

UnixStore::Answer UnixStore::ask(const std::string& request, const std::string& key, Deadline deadline) {
  Fd socket;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      socket = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!socket.valid()) socket = connect(deadline);
  if (!write_all(socket.get(), request, deadline)) server_ended(key);
  Answer answer = receive_answer(socket.get(), key, deadline);
  if (answer.kind == StoreFrameKind::closing) server_ended(key);
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(socket));
  return answer;
}

UnixStore::Answer UnixStore::receive_answer(int socket, const std::string& key, Deadline deadline) const {
  const int64_t start_ns = now_ns();
  std::string in;
  char buffer[size_t{16} << 10];
  for (;;) {
    if (in.size() >= kStoreHeaderBytes) {
      const std::optional<StoreHeader> header = decode_store_header(in);
      if (!header)
        throw WorldError("the store of id '" + id_ + "' answers in another version: run one version on all ranks");
      if (in.size() >= header->frame_bytes()) return {header->kind, in.substr(kStoreHeaderBytes, header->value_bytes)};
    }
    if (!wait_for(socket, POLLIN, deadline)) throw TimeoutError(store_timeout_text(key, start_ns));
    const ssize_t got = ::recv(socket, buffer, sizeof(buffer), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) server_ended(key);
    if (got > 0) in.append(buffer, static_cast<size_t>(got));
  }
}

void UnixStore::server_ended(const std::string& key) const {
  throw PeerError("rank 0, which serves the store of id '" + id_ +
                  "', ended or closed it before it answered for key '" + key + "': look at rank 0's own error");
}

}  // namespace ringtree
