// The process group backend "ringtree" of torch.distributed, for CPU tensors: PyTorch's calls in the words of
// libringtree. Everything here is about tensors, threads and Futures; how ranks talk is the library's.
//
// Names are those that PyTorch's Backend had before 2.14, where newer ones forward to them: one source for all
// versions. A group has two communicators: one for collectives, which run one after another (call_queue.h), and one for
// send and recv, which run as messages come, whatever the collectives do.
#pragma once

#include <torch/version.h>

#include <atomic>
#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "buckets.h"
#include "call_queue.h"
#include "communicator.h"
#include "forks.h"
#include "library.h"
#include "staging.h"

namespace ringtree_torch {

using c10::intrusive_ptr;
using WorkPtr = intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;
using TensorLists = std::vector<std::vector<at::Tensor>>;
using Milliseconds = std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class Backend final : public c10d::Backend {
 public:
  /// Meets the other ranks through `store`. Without the GIL. `rules`: as Communicator's.
  static intrusive_ptr<Backend> make(intrusive_ptr<c10d::Store> store, int rank, int size, Milliseconds timeout,
                                     const std::string& rules);
  /// The same for make() alone, which remembers what it made for leave_all().
  Backend(intrusive_ptr<c10d::Store> store, int rank, int size, Milliseconds timeout, const std::string& rules);
  ~Backend() override { go(); }
  /// When the last reference goes; leave_all() has weak ones, with which the object itself lives on. PyTorch's to call.
  void release_resources() override { go(); }

  const std::string getBackendName() const override { return "ringtree"; }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) override;
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
  WorkPtr allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
  WorkPtr allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& opts) override;
  WorkPtr allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& opts) override;
  WorkPtr allgather_coalesced(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& opts) override;
  WorkPtr gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& opts) override;
  WorkPtr scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& opts) override;
  WorkPtr reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& opts) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& opts) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                        std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& opts) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) override;
  WorkPtr barrier(const c10d::BarrierOptions& opts) override;
  void monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) override;

  WorkPtr send(Tensors& tensors, int peer, int tag) override;
  WorkPtr recv(Tensors& tensors, int peer, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;

  /// The communicators' ranks start together, so numbers do.
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return sequence_.load(std::memory_order_relaxed); }
  // From here on, not in every version's Backend, so not marked as overriding.
  void setTimeout(Milliseconds timeout) { timeout_.store(timeout, std::memory_order_relaxed); }
  /// Ends the group on all ranks: what is under way fails. From any thread.
  void abort();
  /// Waits for what is under way, then leaves. Not in a callback of this group's calls.
  void shutdown();
  /// All groups that are there, when the program ends: calls that are under way get a few seconds, then they are
  /// aborted, so that a rank which ends by an exception ends. Afterwards no thread of this module needs Python, which
  /// threads cannot take any more once it goes.
  static void leave_all() noexcept;
  intrusive_ptr<Options> getBackendOptions();
  WorkPtr gather_single(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& opts);
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 7
  c10d::ErrorType getError();
#endif
  /// DDP asks for the memory of its gradient buckets: see buckets.h. Versions that do not ask have no such functions.
  bool supportsTensorAlloc(c10::DeviceIndex) { return size_ > 1; }
  at::Tensor allocateTensor(long size, at::TensorOptions options) { return make_bucket(size, options); }

 private:
  /// Of a collective: what PyTorch wants to know of it, and whether its caller will wait at once.
  struct Call {
    c10d::OpType type;
    const char* title;
    Milliseconds timeout;
    bool async;
  };
  /// Waits for what is under way, leaves and lets go of all. Idempotent.
  void go();
  /// Whether no call and no message is under way; waits for that until `end`.
  bool is_done_by(Clock::time_point end);
  /// Queues a collective. `body(comm)` makes the library's calls; it runs in another thread or here. `outputs`: what
  /// the Future gives; `inputs`: for profiles. Null where the call has ended well and PyTorch needs no more of it.
  template <class Body>
  WorkPtr start(const Call& call, const Tensors& outputs, const Tensors& inputs, Body body);
  rtComm_t comm() const { return collectives_->get(); }
  size_t size() const { return static_cast<size_t>(size_); }
  bool is_forked() const { return fork_count() != fork_count_; }
  /// Throws in a child that fork() made, and after shutdown().
  void check_usable() const;
  void check_root(int64_t root) const;
  void check_lists(const TensorLists& lists, const char* what) const;
  /// A tensor a rank, each like `own`, where this is the root; nothing elsewhere, where nothing may be given.
  Tensors list_of_root(const TensorLists& lists, const at::Tensor& own, int64_t root, const char* what,
                       const char* side) const;
  void all_gather_sparse(const at::Tensor& input, Tensors& gathered);
  WorkPtr receive(Tensors& tensors, int peer, int tag, c10d::OpType type, const char* title);

  const intrusive_ptr<c10d::Store> store_;
  const int fork_count_;  // when the group's threads were started
  std::atomic<Milliseconds> timeout_;
  std::atomic<uint64_t> sequence_{0};               // of collectives; relaxed: a count, it publishes nothing
  uint64_t num_monitored_ = 0;                      // monitored barriers; one at a time
  std::atomic<bool> leaving_{false}, left_{false};  // relaxed: calls beside shutdown() are a race of the caller's
  /// Messages that the library has not told the end of; shared with them, as the last may outlive the group.
  const std::shared_ptr<std::atomic<int>> open_messages_ = std::make_shared<std::atomic<int>>(0);
  std::unique_ptr<Communicator> collectives_, messages_;
  std::unique_ptr<CallQueue> queue_ = std::make_unique<CallQueue>();  // last: its thread uses the members above
};

}  // namespace ringtree_torch

#include "backend_start.h"
