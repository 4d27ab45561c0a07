// The calls of one group: they run one after another, in the order in which they were made, as a communicator wants it.
// A call that is waited for at once runs in its caller's thread if nothing is before it: a thread's wake-up takes
// longer than a small collective. All others run in a thread of the queue's own.
#pragma once

#include <ATen/ThreadLocalState.h>
#include <c10/util/FunctionRef.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "work.h"

namespace ringtree_torch {

class CallQueue {
 public:
  using Task = std::function<void()>;

  CallQueue() = default;
  ~CallQueue() { stop(); }
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  /// Runs `task` in the caller's thread if nothing is under way or queued before it. False: something is, and nothing
  /// has happened. `error`: how it ended, null if well. From any thread.
  bool run_here(c10::function_ref<void()> task, std::exception_ptr& error);

  /// Runs `task` after all that are queued and completes `work` by how it ended. From any thread.
  ///
  /// In the queue's own thread, where the callbacks of Futures run, all that is queued is run first and then this: such
  /// a callback often waits for what it calls (PowerSGD's does), and nobody else would run it.
  void add(c10::intrusive_ptr<Work> work, Task task);

  /// Waits until nothing is under way or queued, or until `end`. True if nothing is.
  bool drain_until(std::chrono::steady_clock::time_point end);
  /// True in a task, and in the callbacks of what it completes, if they run in the queue's thread.
  bool is_own_thread() const { return own_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  /// Runs what is left, then ends the thread. Nothing may be run afterwards. Idempotent.
  void stop();
  /// The same in its own thread, which cannot wait for itself: runs what is left, and lets the thread end later, and
  /// `queue` with it.
  static void stop_later(std::unique_ptr<CallQueue> queue);

 private:
  struct Entry {
    c10::intrusive_ptr<Work> work;
    Task task;
    std::optional<at::ThreadLocalState>
        state;  // of the caller (inference mode and the like), where another thread runs it
  };
  /// How the task ended; null if well.
  static std::exception_ptr outcome_of(c10::function_ref<void()> task);
  static void execute(const Entry& entry);
  void run_waiting();
  /// Runs the first that waits, without `lock`, which is held before and after.
  void run_first(std::unique_lock<std::mutex>& lock);
  void work_off();
  void start_thread();

  std::mutex mutex_;  // protects all but thread_, which is set under it
  std::condition_variable changed_;
  std::deque<Entry> waiting_;
  bool busy_ = false;  // some thread runs a call
  bool stopping_ = false;
  std::unique_ptr<CallQueue> self_;  // once nobody else has it
  std::thread thread_;
  std::atomic<std::thread::id> own_thread_{};  // read by this thread, or found different
};

}  // namespace ringtree_torch
