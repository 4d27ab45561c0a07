// Work: one call of a group as PyTorch's callers hold it: to be waited for, asked, and turned into a Future.
#pragma once

#include <ATen/core/ivalue.h>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "forks.h"

namespace ringtree_torch {

class Work final : public c10d::Work {
 public:
  /// `outputs`: what result() and the Future give. `title` names the call in a profile; a literal.
  Work(int rank, c10d::OpType type, const char* title, std::vector<at::Tensor> outputs, uint64_t sequence,
       const std::optional<std::vector<at::Tensor>>& inputs);

  /// Ends it, well if `error` is null. Once. `here`: callbacks of the Future run in this thread, else in one of
  /// PyTorch's.
  void complete(std::exception_ptr error, int source = -1, bool here = true);

  /// Waits until it is complete and throws what the call threw. DistBackendError: not within `timeout` (0: as long as
  /// it takes); the call goes on. In Python's main thread a signal's handler is run meanwhile, and what it raises is
  /// thrown.
  bool wait(std::chrono::milliseconds timeout) override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  std::vector<at::Tensor> result() override { return outputs_; }
  int sourceRank() const override;
  uint64_t getSequencenumber() const override { return sequence_; }
  void abort() override;

 private:
  void mark(const c10::intrusive_ptr<c10::ivalue::Future>& future, const std::exception_ptr& error) const;

  std::vector<at::Tensor> outputs_;
  const uint64_t sequence_;
  const int fork_count_ = fork_count();             // when it was started
  int source_ = -1;                                 // of a receive, once it is complete
  c10::intrusive_ptr<c10::ivalue::Future> future_;  // made when it is first asked for; under mutex_
};

}  // namespace ringtree_torch
