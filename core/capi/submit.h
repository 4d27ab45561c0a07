// The way of a call: into this thread's group if one is open, else it runs now.
#pragma once

#include <span>

#include "core/capi/group_scope.h"
#include "core/capi/handle.h"

namespace ringtree::capi {

inline void submit(rtComm& comm, const Call& call) {
  if (Group* const group = open_group_of_thread()) {
    group->add(*comm.communicator, call);
  } else {
    comm.communicator->run(call);
  }
}

inline void submit(rtComm& comm, const Transfer& transfer) {
  const double timeout_s = comm.timeout_s.load(std::memory_order_relaxed);  // a number, it publishes nothing
  if (Group* const group = open_group_of_thread()) {
    group->add(*comm.communicator, transfer, timeout_s);
  } else {
    comm.communicator->transfer(std::span(&transfer, 1), timeout_s);
  }
}

}  // namespace ringtree::capi
