// The life of a group: see backend.h.
#include "backend.h"

#include <Python.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <mutex>

namespace ringtree_torch {
namespace {

constexpr Milliseconds kGrace(5000);

/// The groups of this process.
struct Groups {
  std::mutex mutex;  // protects `all`, and keeps groups from going while all leave
  std::vector<Backend*> all;
};

Groups& groups() {
  static auto* const found = new Groups;  // never destroyed: groups may go after everything else
  return *found;
}

}  // namespace

Backend::Backend(intrusive_ptr<c10d::Store> store, int rank, int size, Milliseconds timeout, const std::string& rules)
    : c10d::Backend(rank, size), store_(std::move(store)), timeout_(timeout) {
  collectives_ = std::make_unique<Communicator>(*store_, "collectives", rank, size, timeout, rules);
  messages_ = std::make_unique<Communicator>(*store_, "messages", rank, size, timeout, "");
  init();
  const std::lock_guard<std::mutex> lock(groups().mutex);
  groups().all.push_back(this);
}

// Calls that are left may need Python, whose lock a destructor may hold.
Backend::~Backend() {
  if (Py_IsInitialized() && PyGILState_Check()) {
    const pybind11::gil_scoped_release no_gil;
    go();
  } else {
    go();
  }
}

void Backend::go() {
  {
    const std::lock_guard<std::mutex> lock(groups().mutex);
    auto& all = groups().all;
    all.erase(std::remove(all.begin(), all.end(), this), all.end());
  }
  shutdown();
}

void Backend::leave_all() noexcept {
  const std::lock_guard<std::mutex> lock(groups().mutex);
  for (Backend* const group : groups().all) group->leave(kGrace);
}

void Backend::abort() {
  const std::string reason = "rank " + std::to_string(rank_) + " aborted its process group";
  collectives_->abort(reason);
  messages_->abort(reason);
}

void Backend::leave(Milliseconds longest) {
  if (left_.exchange(true, std::memory_order_relaxed)) return;
  if (!queue_.drain(longest)) abort();
  queue_.stop();
  collectives_->leave();
  messages_->leave();
}

intrusive_ptr<Backend::Options> Backend::getBackendOptions() {
  return c10::make_intrusive<Options>("ringtree", timeout_.load(std::memory_order_relaxed));
}

#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 7
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
#endif

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
