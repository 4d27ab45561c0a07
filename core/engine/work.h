// Calls that run in the background: one thread a communicator runs them in the order in which they were given. What is
// run is the communicator's; here is who waits for whom.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "core/engine/call_watch.h"

namespace ringtree {

/// A call in the background: whether it is done, and how it ended. From any thread.
class Work {
 public:
  /// True once the call has ended, well or not.
  bool test() const { return done_.load(std::memory_order_acquire); }  // pairs with the release in finish()

  /// Waits for the end and throws what the call threw. TimeoutError: not done within `timeout_s` seconds (0: no limit);
  /// the call goes on, and its own deadline still counts. Interrupted: `interrupted` said so while waiting; the call
  /// goes on as well.
  void wait(double timeout_s = 0, InterruptCheck interrupted = nullptr) const;

 private:
  friend class WorkQueue;
  void finish(std::exception_ptr error);
  /// wait() without what the call threw.
  void await(double timeout_s, InterruptCheck interrupted) const;

  std::atomic<bool> done_{false};
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
  bool idle() const { return num_open_.load(std::memory_order_acquire) == 0; }  // pairs with the release in run()
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
  std::atomic<size_t> num_open_{0};
  std::atomic<std::thread::id> thread_id_{};
  int fork_count_ = 0;  // when the thread was started
  std::unique_ptr<std::thread> thread_;
};

}  // namespace ringtree
