// See work.h.
#include "core/engine/work.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "core/base/fork_count.h"
#include "core/base/helper_thread.h"

namespace ringtree {
namespace {

constexpr auto kBetweenInterruptChecks = std::chrono::milliseconds(20);

}  // namespace

void Work::wait(double timeout_s, InterruptCheck interrupted) const {
  await(timeout_s, interrupted);
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void Work::await(double timeout_s, InterruptCheck interrupted) const {
  const Deadline deadline = timeout_s > 0 ? Deadline::after_seconds(timeout_s) : Deadline{};
  std::unique_lock lock(mutex_);
  while (!test()) {
    if (deadline.passed()) {
      char text[96];
      std::snprintf(text, sizeof text, "the call was not complete after %g s; it is still under way", timeout_s);
      throw TimeoutError(text);
    }
    lock.unlock();  // the check may take Python's lock
    if (interrupted && interrupted() != 0) throw Interrupted("interrupted while waiting for a call that is under way");
    lock.lock();
    if (test()) break;
    const auto longest = interrupted ? std::chrono::nanoseconds(kBetweenInterruptChecks) : std::chrono::hours(1);
    changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(longest, std::chrono::nanoseconds(deadline.left_ns())));
  }
}

void Work::finish(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    num_ended_->store(number_, std::memory_order_release);  // pairs with the acquires in test() and idle()
  }
  changed_.notify_all();
}

WorkQueue::~WorkQueue() {
  if (!thread_) return;
  if (fork_count() != fork_count_) {  // the thread is the parent's; nobody could join it here
    [[maybe_unused]] std::thread* const leaked = thread_.release();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_->join();
}

std::shared_ptr<Work> WorkQueue::add(std::function<void()> task) {
  std::shared_ptr<Work> work;
  {
    const std::lock_guard lock(mutex_);
    // relaxed: whoever asks whether the queue is idle added the call itself, or learned of it from who did.
    const uint64_t number = num_added_.fetch_add(1, std::memory_order_relaxed) + 1;
    work = std::make_shared<Work>(num_ended_, number);
    tasks_.emplace_back(std::move(task), work);
    last_ = work;
    if (!thread_) {
      fork_count_ = fork_count();
      thread_ = std::make_unique<std::thread>(start_helper_thread("ringtree-work", [this] { run(); }));
    }
  }
  changed_.notify_all();
  return work;
}

void WorkQueue::drain(InterruptCheck interrupted) {
  while (!idle()) {
    std::shared_ptr<Work> last;
    {
      const std::lock_guard lock(mutex_);
      last = last_;
    }
    last->await(0, interrupted);  // how it ended is told to whoever holds it
  }
}

void WorkQueue::run() {
  thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);  // read by this thread, or found different
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    auto [task, work] = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    std::exception_ptr error;
    try {
      task();
    } catch (...) {
      error = std::current_exception();
    }
    task = nullptr;  // what it holds goes before its owner is told
    work->finish(std::move(error));
    lock.lock();
  }
}

}  // namespace ringtree
