// See socket_store.h.
#include "core/bootstrap/socket_store.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/net/socket.h"

namespace ringtree {
namespace {

constexpr int64_t kLongestPauseNs = 20'000'000;
// An answer that the server owes at once gets this long even when the caller's deadline has passed.
constexpr double kAnswerSeconds = 1.0;
constexpr double kSetSeconds = 10.0;
// For who serves to be reached again after a connection has ended: most likely its process has. What is still to be
// said then is why one does not go on, several times; a rank must not wait for each of them as if rank 0 were yet to
// come.
constexpr int64_t kReturnNs = 2'000'000'000;
constexpr int64_t kLongestWaitMs = 3'600'000;

}  // namespace

void SocketStore::back_off(int64_t& pause_ns, Deadline deadline) {
  const int64_t left_ns = std::max<int64_t>(deadline.at_ns - now_ns(), 0);
  const timespec pause{0, static_cast<long>(std::min(left_ns, pause_ns))};
  ::nanosleep(&pause, nullptr);
  pause_ns = std::min(2 * pause_ns, kLongestPauseNs);
}

void SocketStore::set(const std::string& key, const std::string& value) {
  check_store_key(key);
  check_store_value(key, value);
  const Answer answer =
      ask(encode_store_frame(StoreFrameKind::set, key, value), key, Deadline::after_seconds(kSetSeconds));
  if (answer.kind == StoreFrameKind::refused) throw WorldError("store key '" + key + "' was refused: " + answer.value);
}

std::string SocketStore::get(const std::string& key, Deadline deadline) {
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

SocketStore::Answer SocketStore::ask(const std::string& request, const std::string& key, Deadline deadline) {
  Fd socket;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      socket = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!socket.valid()) socket = connect_again(key, deadline);
  if (!write_all(socket.get(), request, deadline)) {
    if (deadline.passed()) throw TimeoutError(name_ + " accepts no requests: rank 0, which serves it, may be stopped");
    server_ended(key);
  }
  Answer answer = receive_answer(socket.get(), key, deadline);
  if (answer.kind == StoreFrameKind::closing) server_ended(key);
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(socket));
  return answer;
}

Fd SocketStore::connect_again(const std::string& key, Deadline deadline) {
  const int64_t return_by_ns = return_by_ns_.load(std::memory_order_relaxed);
  if (return_by_ns == INT64_MAX) return connect(deadline);
  try {
    Fd socket = connect(Deadline{std::min(deadline.at_ns, return_by_ns)});
    return_by_ns_.store(INT64_MAX, std::memory_order_relaxed);
    return socket;
  } catch (const TimeoutError&) {
    server_ended(key);
  }
}

SocketStore::Answer SocketStore::receive_answer(int socket, const std::string& key, Deadline deadline) {
  const int64_t start_ns = now_ns();
  std::string in;
  char buffer[size_t{16} << 10];
  for (;;) {
    if (in.size() >= kStoreHeaderBytes) {
      const std::optional<StoreHeader> header = decode_store_header(in);
      if (!header) throw WorldError(name_ + " answers in another version: run one version on all ranks");
      if (in.size() >= header->frame_bytes()) return {header->kind, in.substr(kStoreHeaderBytes, header->value_bytes)};
    }
    if (!wait_for(socket, POLLIN, deadline)) throw TimeoutError(store_timeout_text(key, start_ns));
    const ssize_t got = ::recv(socket, buffer, sizeof(buffer), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) server_ended(key);
    if (got > 0) in.append(buffer, static_cast<size_t>(got));
  }
}

void SocketStore::server_ended(const std::string& key) {
  int64_t none = INT64_MAX;
  return_by_ns_.compare_exchange_strong(none, now_ns() + kReturnNs, std::memory_order_relaxed);
  throw PeerError("rank 0, which serves " + name_ + ", ended or closed it before it answered for key '" + key +
                      "': look at rank 0's own error",
                  {0});
}

}  // namespace ringtree
