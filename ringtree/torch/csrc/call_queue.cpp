// See call_queue.h.
#include "call_queue.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

#include "signals.h"

namespace ringtree_torch {

void CallQueue::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CallQueue::stop_later(std::unique_ptr<CallQueue> queue) {
  CallQueue& stopped = *queue;
  stopped.run_waiting();
  const std::lock_guard<std::mutex> lock(stopped.mutex_);
  stopped.stopping_ = true;
  stopped.thread_.detach();
  stopped.self_ = std::move(queue);
}

bool CallQueue::run_here(c10::function_ref<void()> task, std::exception_ptr& error) {
  if (is_own_thread()) return false;
  std::unique_lock<std::mutex> lock(mutex_);
  if (busy_ || !waiting_.empty()) return false;
  busy_ = true;
  lock.unlock();
  error = outcome_of(task);
  lock.lock();
  busy_ = false;
  const bool more = !waiting_.empty() || stopping_;
  lock.unlock();
  if (more) changed_.notify_all();
  return true;
}

void CallQueue::add(c10::intrusive_ptr<Work> work, Task task) {
  Entry entry{std::move(work), std::move(task), std::nullopt};
  if (is_own_thread()) {
    run_waiting();
    execute(entry);
    return;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  if (!thread_.joinable()) start_thread();
  entry.state.emplace();
  waiting_.push_back(std::move(entry));
  lock.unlock();
  changed_.notify_all();
}

void CallQueue::run_waiting() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!waiting_.empty()) run_first(lock);
}

void CallQueue::run_first(std::unique_lock<std::mutex>& lock) {
  {
    const Entry entry = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    execute(entry);
  }  // what it holds goes without the lock
  lock.lock();
}

bool CallQueue::drain_until(std::chrono::steady_clock::time_point end) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (busy_ || !waiting_.empty()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
  return true;
}

std::exception_ptr CallQueue::outcome_of(c10::function_ref<void()> task) {
  std::exception_ptr error;
  try {
    const at::NoGradGuard no_grad;  // results are written into tensors that may require gradients
    task();
    return nullptr;
  } catch (...) {
    error = std::current_exception();
  }
  if (!has_signal()) return error;
  try {  // what ended the call is what the handler raised
    throw_signal();
  } catch (...) {
    return std::current_exception();
  }
}

void CallQueue::execute(const Entry& entry) {
  std::exception_ptr error;
  {
    std::optional<at::ThreadLocalStateGuard> as_caller;
    if (entry.state) as_caller.emplace(*entry.state);
    error = outcome_of(entry.task);
  }
  entry.work->complete(error);
}

// Signals are for the threads that Python knows.
void CallQueue::start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { work_off(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "ringtree-calls");
}

void CallQueue::work_off() {
  std::unique_ptr<CallQueue> self;  // goes after the lock
  own_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !busy_ && (stopping_ || !waiting_.empty()); });
    if (waiting_.empty()) {
      self = std::move(self_);
      return;
    }
    busy_ = true;
    run_first(lock);
    busy_ = false;
    if (waiting_.empty()) changed_.notify_all();  // drain()
  }
}

}  // namespace ringtree_torch
