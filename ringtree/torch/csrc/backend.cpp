// The life of a group: see backend.h.
#include "backend.h"

#include <Python.h>
#include <pybind11/pybind11.h>

namespace ringtree_torch {

Backend::Backend(intrusive_ptr<c10d::Store> store, int rank, int size, Milliseconds timeout, const std::string& rules)
    : c10d::Backend(rank, size), store_(std::move(store)), timeout_(timeout) {
  collectives_ = std::make_unique<Communicator>(*store_, "collectives", rank, size, timeout, rules);
  messages_ = std::make_unique<Communicator>(*store_, "messages", rank, size, timeout, "");
  init();
}

// Calls that are left may need Python, whose lock a destructor may hold.
Backend::~Backend() {
  if (Py_IsInitialized() && PyGILState_Check()) {
    const pybind11::gil_scoped_release no_gil;
    shutdown();
  } else {
    shutdown();
  }
}

void Backend::abort() {
  const std::string reason = "rank " + std::to_string(rank_) + " aborted its process group";
  collectives_->abort(reason);
  messages_->abort(reason);
}

void Backend::shutdown() {
  if (left_.exchange(true, std::memory_order_relaxed)) return;
  queue_.drain();
  collectives_->leave();
  messages_->leave();
}

intrusive_ptr<Backend::Options> Backend::getBackendOptions() {
  return c10::make_intrusive<Options>("ringtree", timeout_.load(std::memory_order_relaxed));
}

c10d::ErrorType Backend::getError() {
  switch (collectives_->state()) {
    case rtSuccess:
      return c10d::ErrorType::SUCCESS;
    case rtTimeout:
      return c10d::ErrorType::TIMEOUT;
    case rtRemoteError:
      return c10d::ErrorType::REMOTE_ERROR;
    default:
      return c10d::ErrorType::COMM_ERROR;
  }
}

at::Tensor Backend::allocateTensor(long size, at::TensorOptions options) {
  const auto bytes = static_cast<size_t>(size) * options.dtype().itemsize();
  void* memory = nullptr;
  check(rtMemAlloc(&memory, std::max<size_t>(bytes, 1)), nullptr);
  return at::from_blob(memory, {size}, [](void* mine) { rtMemFree(mine); }, options);
}

void Backend::check_root(int64_t root) const {
  TORCH_CHECK_VALUE(root >= 0 && root < size_, "ringtree: invalid root rank: ", root, " is not a rank of a group of ",
                    size_);
}

void Backend::check_lists(const TensorLists& lists, const char* what) const {
  TORCH_CHECK_VALUE(lists.size() == 1, "ringtree: ", what, " takes one list of tensors, not ", lists.size());
  TORCH_CHECK_VALUE(lists.front().size() == size(), "ringtree: ", what, ": a list of ", lists.front().size(),
                    " tensors for ", size_, " ranks");
  check_alike(lists.front(), what);
}

}  // namespace ringtree_torch
