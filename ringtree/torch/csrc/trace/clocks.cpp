// See clocks.h.
#include "clocks.h"

#include <pthread.h>

#include <algorithm>

namespace ringtree_torch {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec time{};
  return clock_gettime(clock, &time) == 0 ? time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec : 0;
}

/// What a thread leaves behind when it ends.
struct ThisThread {
  const std::shared_ptr<ThreadClock> clock = std::make_shared<ThreadClock>();
  uint64_t added_to = 0;  // the last TraceClocks that counts it
  ~ThisThread() { clock->ended.store(read_clock(CLOCK_THREAD_CPUTIME_ID), std::memory_order_release); }
};

ThisThread& this_thread() {
  static thread_local ThisThread found;
  return found;
}

thread_local int calls_under_way = 0;

}  // namespace

int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }

ThreadClock::ThreadClock() { pthread_getcpuclockid(pthread_self(), &id); }

// The clock first: where it is read too late, of a thread that is gone or of another with its number, `ended` is set.
int64_t ThreadClock::read() const {
  const int64_t running = read_clock(id);
  const int64_t at_its_end = ended.load(std::memory_order_acquire);  // pairs with ~ThisThread
  return at_its_end < 0 ? running : at_its_end;
}

void TraceClocks::add_this_thread() {
  ThisThread& thread = this_thread();
  if (thread.added_to == id_) return;
  thread.added_to = id_;
  const std::lock_guard<std::mutex> lock(mutex_);
  // Where two objects are used in turn, it may be there already.
  if (std::find(threads_.begin(), threads_.end(), thread.clock) == threads_.end()) threads_.push_back(thread.clock);
}

TraceClocks::Reading TraceClocks::read() {
  const ThreadClock* own = this_thread().clock.get();
  Reading found{monotonic_ns(), 0, 0};
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(threads_, [&](const std::shared_ptr<ThreadClock>& thread) {
    const int64_t time = thread->read();
    const bool gone = thread->ended.load(std::memory_order_acquire) >= 0;  // pairs with ~ThisThread
    if (gone) {
      ended_ += thread->read();
      return true;
    }
    found.ran += time;
    if (thread.get() == own) found.own = time;
    return false;
  });
  found.ran += ended_ - communicated_;
  return found;
}

void TraceClocks::communicated(int64_t nanoseconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  communicated_ += nanoseconds;
}

InsideACall::InsideACall(TraceClocks& clocks, int64_t own) : clocks_(clocks), begin_(own) { ++calls_under_way; }

InsideACall::~InsideACall() {
  if (--calls_under_way == 0) clocks_.communicated(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin_);
}

}  // namespace ringtree_torch
