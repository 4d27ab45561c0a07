// The two clocks of the job tracer: the monotonic one, and the CPU time that the threads which issue collectives have
// spent on anything else. Both in nanoseconds.
//
// For: both at one moment, read from any thread: a call's end is noticed by one of the backend's. What a thread spends
// inside a call's own code is communication, also where the backend polls there. Not for: what is done with them.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace ringtree_torch {

int64_t monotonic_ns();

/// The CPU time of one thread, also when that has ended.
struct ThreadClock {
  ThreadClock();  // of the calling thread

  clockid_t id{};
  std::atomic<int64_t> ended{-1};  // its time when it ended; release, for the acquire in read()
  int64_t read() const;
};

class TraceClocks {
 public:
  struct Reading {
    int64_t now;
    int64_t ran;  // of all threads that were added, on anything but communication
    int64_t own;  // of the calling thread alone, on anything; 0 if it was not added
  };

  /// Counts the calling thread's time from now on; cheap if it does already.
  void add_this_thread();
  Reading read();
  /// So much of what the threads have run was communication.
  void communicated(int64_t nanoseconds);

 private:
  const uint64_t id_ = ++num_made_;  // not the address: a later object may have the same
  std::mutex mutex_;                 // of what follows
  std::vector<std::shared_ptr<ThreadClock>> threads_;
  int64_t ended_ = 0;  // of threads that are gone
  int64_t communicated_ = 0;

  static inline std::atomic<uint64_t> num_made_{0};  // sequentially consistent; a count
};

/// While it lives, its thread is inside of a call; what that takes is communication. A call within a call counts once.
class InsideACall {
 public:
  InsideACall(TraceClocks& clocks, int64_t own);
  ~InsideACall();
  InsideACall(const InsideACall&) = delete;
  InsideACall& operator=(const InsideACall&) = delete;

 private:
  TraceClocks& clocks_;
  const int64_t begin_;
};

}  // namespace ringtree_torch
