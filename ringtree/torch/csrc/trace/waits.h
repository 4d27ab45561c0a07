// Calls whose Work has no Future (Gloo's reduce-scatter and its like): they are over when somebody has waited for them.
//
// For: which call a Work belongs to that a wait has returned for. Not for: noticing the wait: that is a function of
// Python's (ringtree/joblog/waits.py), so a wait in C++ is not seen and such a call has no end.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace ringtree_torch {

class TraceWaits {
 public:
  /// So many are known at most, as each keeps its tensors; of more, the oldest is forgotten.
  static constexpr size_t kMost = 1024;

  /// Keeps the Work, so that no other has its address.
  void add(c10::intrusive_ptr<c10d::Work> work, int64_t number);
  /// Returns the number of the Work's call and forgets it; nothing if it is not known.
  std::optional<int64_t> take(const c10d::Work& work);
  /// Forgets all. Without the GIL: with the last reference to a Work its thread may want it.
  void drop();

 private:
  struct Entry {
    c10::intrusive_ptr<c10d::Work> work;
    int64_t number;
  };
  std::mutex mutex_;  // of entries_
  std::deque<Entry> entries_;
};

}  // namespace ringtree_torch
