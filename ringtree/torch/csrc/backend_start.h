// How a collective of the backend begins (backend.h). The part of it that is a template.
#pragma once

#include <ATen/record_function.h>
#include <torch/version.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "backend.h"

namespace ringtree_torch {

/// Whether the caller will not wait at once: what the options say; in 2.6 and 2.7 those of a few collectives do.
template <class Options>
bool is_async(const Options& opts) {
  if constexpr (requires { opts.asyncOp; }) {
    return opts.asyncOp;
  } else {
    return true;
  }
}

/// Whether PyTorch takes no Work for a call that is over: torch.distributed asks before it waits from 2.8 on, and where
/// functional collectives wait by tensor (wait_tensor), c10d does not.
inline bool may_lack_work() {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 8)
  return !c10d::allow_inflight_collective_as_graph_input();
#else
  return false;
#endif
}

template <class Body>
WorkPtr Backend::start(const Call& call, const Tensors& outputs, const Tensors& inputs, Body body) {
  check_usable();
  const uint64_t sequence = sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
  const Milliseconds timeout =
      call.timeout == c10d::kUnsetTimeout ? timeout_.load(std::memory_order_relaxed) : call.timeout;
  auto task = [this, timeout, body = std::move(body)]() mutable {
    collectives_->set_timeout(timeout);
    body(comm());
  };
  const bool recorded = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE).has_value();
  intrusive_ptr<Work> work;
  const auto make_work = [&] {
    work = c10::make_intrusive<Work>(rank_, call.type, recorded ? call.title : nullptr, outputs, sequence,
                                     recorded ? std::optional(inputs) : std::nullopt);
  };
  if (recorded) make_work();  // before the call, whose time it records
  std::exception_ptr error;
  if (!call.async && queue_->run_here(task, error)) {
    if (!work && !error && may_lack_work()) return nullptr;
    if (!work) make_work();
    work->complete(error);
    return work;
  }
  if (!work) make_work();
  queue_->add(work, std::move(task));
  return work;
}

}  // namespace ringtree_torch
