// See watch.h.
#include "core/textbook/watch.h"

#include <chrono>
#include <cstdio>

#include "core/base/error.h"

namespace ringtree::textbook {
namespace {

constexpr int64_t kInterruptCheckNs = 20'000'000;  // taking Python's lock more often would slow the others
constexpr std::chrono::seconds kWaitForReason{1};

}  // namespace

Watch::Watch(int rank, int world_size) : rank_(rank), gone_(static_cast<size_t>(world_size)) {}

void Watch::on_gone(int peer, bool said_bye) {
  {
    const std::lock_guard lock(mutex_);
    gone_[static_cast<size_t>(peer)].store(said_bye ? kSaidBye : kDied, std::memory_order_release);
  }
  changed_.notify_all();
}

// The text names ranks, and is passed on as it is.
void Watch::on_abort(const std::string& text) { set_failure(Trouble::peer, text); }

void Watch::attach(Mesh& mesh) { mesh_.store(&mesh, std::memory_order_release); }

void Watch::begin(const std::string& what, uint64_t sequence, double timeout_s) {
  what_ = &what;
  timeout_s_ = timeout_s;
  deadline_ = Deadline::after_seconds(timeout_s);
  sequence_ = sequence;
}

std::string Watch::call_text() const {
  return *what_ + (sequence_ > 0 ? " #" + std::to_string(sequence_) : std::string());
}

bool Watch::look(int awaited) {
  if (failed()) return true;
  const int64_t now = now_ns();
  if (now >= deadline_.at_ns) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", timeout_s_);
    const std::string whom = awaited >= 0 ? ", which waits for " + describe(awaited) : std::string();
    fail(Trouble::timeout, call_text() + " was not complete after " + seconds + " s on " + describe(rank_) + whom);
  } else if (interrupted_ && now >= next_interrupt_check_ns_) {
    next_interrupt_check_ns_ = now + kInterruptCheckNs;
    if (interrupted_() != 0) fail(Trouble::interrupted, describe(rank_) + " was interrupted during " + call_text());
  }
  return failed();
}

void Watch::fail_gone(int peer) {
  const bool said_bye = gone_[static_cast<size_t>(peer)].load(std::memory_order_acquire) == kSaidBye;
  fail(Trouble::peer, describe(peer) + (said_bye ? " left" : " died") + " before it completed " + call_text());
}

void Watch::fail_length(int peer, uint64_t announced, uint64_t expected) {
  fail(Trouble::mismatch, describe(peer) + " sent a message of " + std::to_string(announced) + " bytes where " +
                              describe(rank_) + " expects " + std::to_string(expected) + " in " + call_text() +
                              ": the ranks are in different calls");
}

void Watch::fail_closed(int peer) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kWaitForReason, [&] { return failed() || is_gone(peer); });
  }
  if (failed()) return;
  if (is_gone(peer)) return fail_gone(peer);
  fail(Trouble::peer, describe(peer) + " closed its connection during " + call_text());
}

void Watch::fail(Trouble trouble, const std::string& text) {
  if (set_failure(trouble, text)) pass_on();
}

bool Watch::set_failure(Trouble trouble, const std::string& text) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !failed_.load(std::memory_order_relaxed);  // only changed under the lock
    if (first) {
      trouble_ = trouble;
      text_ = text;
      failed_.store(true, std::memory_order_release);  // pairs with the acquire in failed()
    }
  }
  changed_.notify_all();
  return first;
}

// Also what a peer told us: whoever raises may leave at once, and its bye must not reach a rank before the reason does.
void Watch::pass_on() {
  Mesh* const mesh = mesh_.load(std::memory_order_acquire);
  if (!mesh || passed_on_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only who is first matters
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = text_;
  }
  for (int peer = 0; peer < mesh->world_size(); ++peer)
    if (peer != rank_ && !is_gone(peer)) mesh->send(peer, ControlType::abort, text);
}

void Watch::raise() {
  pass_on();
  const std::lock_guard lock(mutex_);
  switch (trouble_) {
    case Trouble::peer:
      throw PeerError(text_);
    case Trouble::timeout:
      throw TimeoutError(text_);
    case Trouble::mismatch:
      throw MismatchError(text_);
    case Trouble::interrupted:
      break;
  }
  throw WorldError(text_);
}

std::string Watch::describe(int rank) const {
  std::string text = "rank " + std::to_string(rank);
  if (const Mesh* mesh = mesh_.load(std::memory_order_acquire))
    text += " (pid " + std::to_string(mesh->peer(rank).pid) + ")";
  return text;
}

bool Watch::is_in_this_process(int peer) const {
  const Mesh* const mesh = mesh_.load(std::memory_order_acquire);
  const PeerIdentity &self = mesh->peer(rank_), &other = mesh->peer(peer);
  return self.pid_namespace != 0 && self.pid_namespace == other.pid_namespace && self.pid == other.pid;
}

}  // namespace ringtree::textbook
