// Calls that run in the background: one thread a communicator runs them in the order in which they were given. What is
// run is the communicator's; here is who waits for whom.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "core/engine/call_watch.h"

namespace ringtree {

/// A call in the background: whether it is done, and how it ended. From any thread.
class Work {
 public:
  /// How many calls of a queue have ended. One word says it to whoever holds a call and to the queue: nobody sees the
  /// queue idle and its last call under way, or the other way round. Shared, as both may go first.
  using NumEnded = std::atomic<uint64_t>;

  /// The `number`-th call of its queue, from 1.
  Work(std::shared_ptr<NumEnded> num_ended, uint64_t number) : num_ended_(std::move(num_ended)), number_(number) {}

  /// True once the call has ended, well or not.
  bool test() const { return num_ended_->load(std::memory_order_acquire) >= number_; }  // release: finish()

  /// Waits for the end and throws what the call threw. TimeoutError: not done within `timeout_s` seconds (0: no limit);
  /// the call goes on, and its own deadline still counts. Interrupted: `interrupted` said so while waiting; the call
  /// goes on as well.
  void wait(double timeout_s = 0, InterruptCheck interrupted = nullptr) const;

 private:
  friend class WorkQueue;
  void finish(std::exception_ptr error);
  /// wait() without what the call threw.
  void await(double timeout_s, InterruptCheck interrupted) const;

  const std::shared_ptr<NumEnded> num_ended_;
  const uint64_t number_;
  mutable std::mutex mutex_;  // protects error_
  mutable std::condition_variable changed_;
  std::exception_ptr error_;
};

class WorkQueue {
 public:
  WorkQueue() = default;
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  /// Runs what is left, then ends the thread.
  ~WorkQueue();

  /// Runs `task` after all that were given before. Starts the thread on first use.
  std::shared_ptr<Work> add(std::function<void()> task);

  /// Nothing is under way or waiting. Cheap.
  bool idle() const {
    const uint64_t num_ended = num_ended_->load(std::memory_order_acquire);  // pairs with the release in finish()
    return num_ended == num_added_.load(std::memory_order_relaxed);
  }
  /// Waits until it is idle. `interrupted`: as Work::wait().
  void drain(InterruptCheck interrupted);
  /// True in a task.
  bool is_own_thread() const { return std::this_thread::get_id() == thread_id_.load(std::memory_order_relaxed); }

 private:
  void run();

  std::mutex mutex_;  // protects tasks_, last_, stopping_
  std::condition_variable changed_;
  std::deque<std::pair<std::function<void()>, std::shared_ptr<Work>>> tasks_;
  std::shared_ptr<Work> last_;
  bool stopping_ = false;
  const std::shared_ptr<Work::NumEnded> num_ended_ = std::make_shared<Work::NumEnded>(0);
  std::atomic<uint64_t> num_added_{0};
  std::atomic<std::thread::id> thread_id_{};
  int fork_count_ = 0;  // when the thread was started
  std::unique_ptr<std::thread> thread_;
};

}  // namespace ringtree
