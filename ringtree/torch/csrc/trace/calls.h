// The calls that the job tracer has seen and not yet handed on, from their begin until they are taken.
//
// For: appending in the training's own time, noting ends from any thread. Not for: reading a call's arguments
// (arguments.h), nor lines of text (lines.h). All functions from any thread; none needs Python.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "clocks.h"

namespace ringtree_torch {

/// One call; times in nanoseconds of the tracer's clocks (clocks.h).
struct TracedCall {
  static constexpr int64_t kNever = -1;

  int64_t number = 0;  // in the order of their begin
  int64_t step = 0;
  int64_t in_bytes = 0, out_bytes = 0;
  int64_t begin = 0, ran_begin = 0;
  int64_t issued = kNever;
  int64_t end = kNever, ran_end = kNever;
  int32_t kind = 0;   // which operator, as they were added
  int32_t group = 0;  // as Python numbers them
  int32_t num_tensors = 0;
  c10::ScalarType dtype = c10::ScalarType::Undefined;
  c10::DeviceType device = c10::DeviceType::CPU;
  bool timed = false;  // its end is to be noted
};

struct BegunCall {
  TracedCall call;
  int64_t own;  // CPU time of the calling thread
};

class TracedCalls {
 public:
  /// So many (120 bytes each) are kept until somebody makes room (take()).
  explicit TracedCalls(size_t capacity) : capacity_(capacity) {}
  size_t capacity() const { return capacity_; }

  /// Calls that begin from now on belong to `step`, whose ends are noted if it is `timed`.
  void enter_step(int64_t step, bool timed);
  /// Says whether room has to be made; before a call begins, as that takes time.
  bool is_full();
  /// Keeps a call that begins; sets its number, its step, whether it is timed, and when it begins: in this order of
  /// numbers, and not before its step.
  BegunCall begin(TracedCall call, TraceClocks& clocks);
  void issued(int64_t number, int64_t now);
  /// Does nothing if the call has been taken.
  void complete(int64_t number, int64_t now, int64_t ran);
  /// Hands over, in the order of their begin, what nobody adds to any more: calls that were issued and have ended, if
  /// they are timed, and those of steps before `first_step`; of the others all but the last `most`, which stay.
  std::vector<TracedCall> take(int64_t first_step, size_t most);
  /// Of all that have begun, also those that have been taken.
  int64_t num_calls();
  /// Whether the last call is timed and has not ended.
  bool awaits_an_end();

 private:
  TracedCall* find(int64_t number);  // under mutex_; null if it has been taken

  const size_t capacity_;
  std::mutex mutex_;               // of all that follows
  std::vector<TracedCall> calls_;  // ascending numbers
  int64_t num_calls_ = 0, step_ = 0;
  bool timed_ = false;
};

}  // namespace ringtree_torch
