// See handoff.h. Thread 0 leads and holds the clock, thread 1 answers. Both give up at the request's absolute deadline,
// so neither can wait for the other for ever, and a thread that gets its core too late does nothing.
#include "core/probe/handoff.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/helper_thread.h"
#include "core/probe/pinned_thread.h"

namespace ringtree {
namespace {

constexpr int kRoundTrips = 64;         // of a chunk: 3 µs near, 20 µs far; short beside a scheduler's slice
constexpr int kLeastChunks = 3;         // however short the measurement: a single one may have been interrupted
constexpr int kLooks = 2000;            // between two looks at the clock while waiting
constexpr uint64_t kOver = UINT64_MAX;  // of Line::turn: the leader has finished

int64_t checked_ns(double seconds, const char* what) {
  if (!(seconds >= 0 && seconds <= 60))
    throw UsageError(std::string(what) + " must be within 0 and 60 seconds, not " + std::to_string(seconds));
  return static_cast<int64_t>(seconds * 1e9);
}

// No pause instruction: it would add its own length, which differs between processors, to every hand-off. False if the
// deadline passed or the leader has finished.
bool wait_for_turn(const std::atomic<uint64_t>& turn, uint64_t wanted, int64_t until_ns) {
  for (;;) {
    for (int look = 0; look < kLooks; ++look) {
      // Acquire, pairs with the release stores of the other thread in lead() and follow(): as in a real hand-off, what
      // was written before the flag is visible after it.
      const uint64_t seen = turn.load(std::memory_order_acquire);
      if (seen == wanted) return true;
      if (seen == kOver) return false;
    }
    if (now_ns() >= until_ns) return false;
  }
}

}  // namespace

HandoffProbe::HandoffProbe(int core_a, int core_b, double patience_s)
    : cores_{core_a, core_b}, patience_ns_(checked_ns(patience_s, "patience")), line_(std::make_unique<Line>()) {
  if (core_a == core_b) return;
  try {
    threads_[0] = start_helper_thread("rt-handoff-0", [this] { serve(0); });
    threads_[1] = start_helper_thread("rt-handoff-1", [this] { serve(1); });
  } catch (...) {
    stop_threads();
    throw;
  }
}

HandoffProbe::~HandoffProbe() { stop_threads(); }

void HandoffProbe::stop_threads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  requested_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::optional<double> HandoffProbe::measure(double seconds) {
  const int64_t length_ns = checked_ns(seconds, "a measurement");
  if (cores_[0] == cores_[1]) return std::nullopt;
  const std::lock_guard one_at_a_time(callers_);
  std::unique_lock lock(mutex_);
  const int64_t until_ns = now_ns() + length_ns + patience_ns_;
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(length_ns + patience_ns_);
  const auto idle = [this] { return num_started_ == 2 && done_[0] == request_.number && done_[1] == request_.number; };
  // A thread that did not get its core during the last measurement may still have to notice that it is over.
  if (!answered_.wait_until(lock, until, idle) || unusable_) return std::nullopt;
  line_->turn.store(0, std::memory_order_relaxed);  // both threads sleep; they see it through mutex_
  best_s_ = 0;
  request_ = {request_.number + 1, length_ns, until_ns};
  requested_.notify_all();
  if (!answered_.wait_until(lock, until, idle) || failed_[0] || failed_[1] || best_s_ <= 0) return std::nullopt;
  return best_s_;
}

void HandoffProbe::serve(int side) {
  const bool pinned = pin_to_core(cores_[side]);
  {
    const std::lock_guard lock(mutex_);
    unusable_ = unusable_ || !pinned;
    if (++num_started_ == 2) answered_.notify_all();
  }
  Request request;
  while (wait_for_request(side, request)) {
    side == 0 ? lead(request) : follow(request);
    const std::lock_guard lock(mutex_);
    failed_[side] = !is_on_core(cores_[side]);
    done_[side] = request.number;
    if (done_[1 - side] == request.number) answered_.notify_all();  // the first one has nothing to tell the caller yet
  }
}

// False: the probe ends.
bool HandoffProbe::wait_for_request(int side, Request& request) {
  std::unique_lock lock(mutex_);
  requested_.wait(lock, [&] { return stop_ || request_.number != done_[side]; });
  request = request_;
  return !stop_;
}

// turn:   0 ──lead──> 1 ──follow──> 2 ──lead──> 3 ──follow──> 4 …      two hand-offs a round trip
void HandoffProbe::lead(const Request& request) {
  std::atomic<uint64_t>& turn = line_->turn;
  uint64_t at = 0;
  const auto round_trip = [&] {
    turn.store(at + 1, std::memory_order_release);  // pairs with the acquire in wait_for_turn() of follow()
    at += 2;
    return wait_for_turn(turn, at, request.until_ns);
  };
  double best_ns = 0;
  bool answered = round_trip();  // the other thread may wake up later than this one: not part of any chunk
  int64_t before_ns = now_ns();
  const int64_t end_ns = before_ns + request.length_ns;
  for (int chunk = 1; answered; ++chunk) {
    for (int trip = 0; trip < kRoundTrips && answered; ++trip) answered = round_trip();
    const int64_t after_ns = now_ns();
    if (answered) {
      const double one_way_ns = static_cast<double>(after_ns - before_ns) / (2 * kRoundTrips);
      best_ns = best_ns > 0 ? std::min(best_ns, one_way_ns) : one_way_ns;
    }
    if (after_ns >= end_ns && chunk >= kLeastChunks) break;
    before_ns = after_ns;
  }
  turn.store(kOver, std::memory_order_release);  // pairs with the acquire in wait_for_turn() of follow()
  const std::lock_guard lock(mutex_);
  best_s_ = best_ns * 1e-9;
}

void HandoffProbe::follow(const Request& request) {
  std::atomic<uint64_t>& turn = line_->turn;
  // The leader never overwrites an unanswered turn except with kOver, so the store below is not raced by its next turn;
  // but it may give up just when this thread answers, and kOver is then lost: the deadline, the same, ends this wait.
  for (uint64_t at = 1; wait_for_turn(turn, at, request.until_ns); at += 2)
    turn.store(at + 1, std::memory_order_release);  // pairs with the acquire in wait_for_turn() of lead()
}

}  // namespace ringtree
