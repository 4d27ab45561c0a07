// See work.h.
#include "work.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "signals.h"

namespace ringtree_torch {

Work::Work(int rank, c10d::OpType type, const char* title, std::vector<at::Tensor> outputs, uint64_t sequence,
           const std::optional<std::vector<at::Tensor>>& inputs)
    : c10d::Work(rank, type, title, inputs), outputs_(std::move(outputs)), sequence_(sequence) {}

void Work::complete(std::exception_ptr error, int source, bool here) {
  source_ = source;
  c10::intrusive_ptr<c10::ivalue::Future> future;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    completed_ = true;
    exception_ = error;
    future = future_;  // who asks later finds it complete
    if (recordFunctionEndCallback_) {
      recordFunctionEndCallback_();
      recordFunctionEndCallback_ = nullptr;
    }
  }
  cv_.notify_all();
  if (!future || future->completed()) return;
  if (here) {
    mark(future, error);
  } else {
    auto self = c10::intrusive_ptr<Work>::unsafe_reclaim_from_nonowning(this);
    at::launch([self, future, error] { self->mark(future, error); });
  }
}

void Work::mark(const c10::intrusive_ptr<c10::ivalue::Future>& future, const std::exception_ptr& error) const {
  if (error) {
    future->setErrorIfNeeded(error);
  } else {
    future->markCompleted(c10::IValue(outputs_));
  }
}

bool Work::wait(std::chrono::milliseconds timeout) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  std::unique_lock<std::mutex> lock(mutex_);
  const auto begin = completed_ ? std::chrono::steady_clock::time_point() : std::chrono::steady_clock::now();
  while (!completed_) {
    check_not_forked(fork_count_, "this call was started");
    const auto passed = std::chrono::steady_clock::now() - begin;
    if (timeout != kNoTimeout && passed >= timeout)
      C10_THROW_ERROR(DistBackendError, "ringtree: Timed out waiting " + std::to_string(timeout.count()) +
                                            " ms for a call that is still under way");
    auto longest = std::chrono::duration_cast<std::chrono::nanoseconds>(kBetweenLooks);
    if (timeout != kNoTimeout) longest = std::min(longest, std::chrono::nanoseconds(timeout - passed));
    cv_.wait_for(lock, longest);
    if (completed_) break;
    lock.unlock();  // a handler may do anything
    if (signal_raised()) throw_signal();
    lock.lock();
  }
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

c10::intrusive_ptr<c10::ivalue::Future> Work::getFuture() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (future_) return future_;
  future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  if (!completed_) return future_;
  if (exception_) {
    future_->setError(exception_);
  } else {
    future_->markCompleted(c10::IValue(outputs_));
  }
  return future_;
}

int Work::sourceRank() const {
  TORCH_CHECK(opType_ == c10d::OpType::RECVANYSOURCE || opType_ == c10d::OpType::RECV,
              "sourceRank() is for receives only");
  return source_;
}

void Work::abort() { TORCH_CHECK(false, "one call cannot be aborted: abort the group"); }

}  // namespace ringtree_torch
