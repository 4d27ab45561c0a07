// How a collective of the backend begins (backend.h). The part of it that is a template.
#pragma once

#include "backend.h"

namespace ringtree_torch {

/// Whether the caller will not wait at once: what the options say, from 2.7 on; before that nobody knows.
template <class Options>
bool is_async(const Options& opts) {
  if constexpr (requires { opts.asyncOp; }) {
    return opts.asyncOp;
  } else {
    return true;
  }
}

template <class Body>
WorkPtr Backend::start(const Call& call, Tensors outputs, const Tensors& inputs, Body body) {
  check_usable();
  const uint64_t sequence = sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
  auto work = c10::make_intrusive<Work>(rank_, call.type, call.title, std::move(outputs), sequence, inputs);
  const Milliseconds timeout =
      call.timeout == c10d::kUnsetTimeout ? timeout_.load(std::memory_order_relaxed) : call.timeout;
  queue_->run(
      work,
      [this, timeout, body = std::move(body)]() mutable {
        collectives_->set_timeout(timeout);
        body(comm());
      },
      !call.async);
  return work;
}

}  // namespace ringtree_torch
