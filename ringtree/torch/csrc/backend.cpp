// The life of a group: see backend.h.
#include "backend.h"

#include <Python.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <mutex>
#include <optional>

namespace ringtree_torch {
namespace {

constexpr Milliseconds kGrace(5000);

/// The groups of this process.
struct Groups {
  std::mutex mutex;  // protects `all`
  std::vector<c10::weak_intrusive_ptr<Backend>> all;
};

Groups& groups() {
  static auto* const found = new Groups;  // never destroyed: groups may go after everything else
  return *found;
}

}  // namespace

Backend::Backend(intrusive_ptr<c10d::Store> store, int rank, int size, Milliseconds timeout, const std::string& rules)
    : c10d::Backend(rank, size), store_(std::move(store)), fork_count_(fork_count()), timeout_(timeout) {
  collectives_ = std::make_unique<Communicator>(*store_, "collectives", rank, size, timeout, rules);
  messages_ = std::make_unique<Communicator>(*store_, "messages", rank, size, timeout, "");
  init();
}

intrusive_ptr<Backend> Backend::make(intrusive_ptr<c10d::Store> store, int rank, int size, Milliseconds timeout,
                                     const std::string& rules) {
  auto made = c10::make_intrusive<Backend>(std::move(store), rank, size, timeout, rules);
  const std::lock_guard<std::mutex> lock(groups().mutex);
  auto& all = groups().all;
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto& group) { return group.expired(); }), all.end());
  all.emplace_back(made);
  return made;
}

void Backend::go() {
  if (!queue_) return;  // gone already
  // Calls that are left may need Python, whose lock who lets go may hold.
  std::optional<pybind11::gil_scoped_release> no_gil;
  if (Py_IsInitialized() && PyGILState_Check()) no_gil.emplace();
  if (is_forked()) {  // the threads that it would wait for are in the parent
    [[maybe_unused]] const auto* const kept = queue_.release();
  } else if (queue_->is_own_thread()) {  // which cannot wait for itself
    CallQueue::stop_later(std::move(queue_));
  } else {
    shutdown();
    queue_.reset();
  }
  messages_.reset();
  collectives_.reset();
}

void Backend::leave_all() noexcept {
  std::vector<intrusive_ptr<Backend>> open;
  {
    const std::lock_guard<std::mutex> lock(groups().mutex);
    for (const auto& group : groups().all)
      if (auto strong = group.lock(); strong && !strong->is_forked()) open.push_back(std::move(strong));
  }
  // First all are ended that do not end by themselves: a callback of one group may wait for another.
  const auto end = Clock::now() + kGrace;
  for (const auto& group : open)
    if (!group->left_ && !group->is_done_by(end)) group->abort();
  for (const auto& group : open) group->shutdown();
}

bool Backend::is_done_by(Clock::time_point end) {
  if (!queue_->drain_until(end)) return false;
  while (open_messages_->load(std::memory_order_acquire) > 0) {  // pairs with the release in Message
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(Milliseconds(5));
  }
  return true;
}

void Backend::abort() {
  const std::string reason = "rank " + std::to_string(rank_) + " aborted its process group";
  collectives_->abort(reason);
  messages_->abort(reason);
}

void Backend::shutdown() {
  if (is_forked()) return;
  TORCH_CHECK(!queue_->is_own_thread(), "ringtree: a group cannot be destroyed by a callback of its own calls");
  if (leaving_.exchange(true, std::memory_order_relaxed)) return;  // relaxed: only who is first matters
  queue_->drain_until(Clock::time_point::max());
  left_.store(true, std::memory_order_relaxed);
  queue_->stop();
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

void Backend::check_usable() const {
  check_not_forked(fork_count_, "this process group was made");
  TORCH_CHECK(!left_.load(std::memory_order_relaxed), "ringtree: this process group was destroyed");
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
