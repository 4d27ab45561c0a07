// The job tracer's kernels: every collective of torch.distributed, seen on its way through PyTorch's dispatcher.
//
// Each collective is an operator `c10d::…`, whoever asks for it. Each of those gets a kernel at the dispatch key
// BackendSelect, the last stop before the backend's own, which reads the arguments, calls on, and has the end of the
// call noted when its Future completes. It is boxed: it takes its arguments as they lie on the dispatcher's stack, so
// that one kernel does for all operators of all versions.
//
// For: a call's own time, without Python: Python is asked once for each new group, when room has to be made, and when
// the first Work comes that has no Future. Not for: files, steps and what a line says beyond its call
// (joblog/tracer.py, joblog/writing.py).
#pragma once

#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../forks.h"
#include "arguments.h"
#include "calls.h"
#include "clocks.h"
#include "waits.h"

namespace ringtree_torch {

/// What Python is asked.
struct TracerQuestions {
  pybind11::object group;      // (ProcessGroup, device) -> number of the group, below 0 if it can't be recorded
  pybind11::object make_room;  // () -> None: calls Recorder::take()
  pybind11::object watch;      // () -> None: from now on waits are told (Recorder::waited())
};

class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  /// With the GIL, as all that Python calls.
  Recorder(TracerQuestions questions, size_t capacity) : questions_(std::move(questions)), calls_(capacity) {}
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Before start().
  void add(TracedOperator op) { operators_.push_back(std::move(op)); }
  /// From now on calls are recorded; the calling thread's CPU time counts.
  void start();
  /// Takes the kernels away and asks Python nothing more. Calls under way may still end. Idempotent.
  void stop();
  /// Calls are passed on and not recorded any more. `why`: for error().
  void give_up(const std::string& why);
  /// Why it gave up by itself; "": it did not.
  std::string error();

  size_t capacity() const { return calls_.capacity(); }
  void enter_step(int64_t step, bool timed) { calls_.enter_step(step, timed); }
  /// Lines of the file (lines.h) of the calls that TracedCalls::take() hands over.
  std::string take(int64_t first_step, size_t most);
  int64_t num_calls() { return calls_.num_calls(); }
  bool awaits_an_end() { return calls_.awaits_an_end(); }
  TraceClocks& clocks() { return clocks_; }
  void waited(const c10d::Work& work);
  void drop_waits() { waits_.drop(); }

  /// A call of operators_[kind], in the thread that issues it.
  void call(int32_t kind, const c10::OperatorHandle& op, c10::DispatchKeySet keys, c10::Stack* stack);

 private:
  struct Group {
    std::string name;
    int size;
    c10::DeviceType device;
    int32_t number;
  };
  /// In a child that fork() made nobody reads what is recorded.
  bool is_idle() const { return gave_up_.load(std::memory_order_relaxed) || fork_count() != fork_count_; }
  /// Nothing: the call is not recorded.
  std::optional<BegunCall> begin(int32_t kind, const c10::Stack& stack) noexcept;
  /// The number by which lines name the group.
  int32_t number_of(const c10::intrusive_ptr<c10d::ProcessGroup>& group, c10::DeviceType device);
  int32_t ask_for_number(const c10::intrusive_ptr<c10d::ProcessGroup>& group, c10::DeviceType device);
  /// Has the end of a call noted which has been issued.
  void await(int64_t number, const c10::OperatorHandle& op, const c10::Stack& stack) noexcept;
  void complete(int64_t number);

  const int fork_count_ = ringtree_torch::fork_count();
  std::vector<TracedOperator> operators_;  // unchanged after start()
  TracerQuestions questions_;              // under the GIL; empty after stop()
  std::unique_ptr<torch::Library> kernels_;
  TraceClocks clocks_;
  TracedCalls calls_;
  TraceWaits waits_;
  std::atomic<bool> gave_up_{false};  // relaxed: a thread that sees it late records a call that nobody reads
  std::atomic<bool> watches_{false};  // sequentially consistent: one thread asks Python to watch
  std::mutex mutex_;                  // of what follows
  std::vector<Group> groups_;
  std::string error_;
};

/// Adds the class to the Python module.
void bind_recorder(pybind11::module_& module);

}  // namespace ringtree_torch
