// Small schedules made by hand whose times can be derived by hand, for the model's tests. Not a library of algorithms.
#pragma once

#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree::testing {

inline ScheduleShape model_shape(const char* name, Collective collective, int num_ranks, int num_chunks) {
  return {name, collective, num_ranks, 0, num_chunks, 1, {}};
}

inline Step model_step(Verb verb, std::vector<Endpoint> recv, Place src, Place dst, std::vector<int> send_to,
                       int chunk = 0) {
  Step step;
  step.verb = verb;
  step.chunks = {chunk, 1};
  step.recv = std::move(recv);
  step.src = src;
  step.dst = dst;
  step.send_to = std::move(send_to);
  return step;
}

/// Broadcast from rank 0 where each rank sends to its children, all in one multicast: parent[r] < r, parent[0] = -1.
inline Schedule broadcast_along(const std::vector<int>& parent) {
  const int n = static_cast<int>(parent.size());
  return Schedule(model_shape("broadcast", Collective::broadcast, n, 1), [parent, n](ProgramBuilder& builder) {
    const int rank = builder.rank();
    std::vector<int> children;
    for (int child = 1; child < n; ++child)
      if (parent[child] == rank) children.push_back(child);
    if (rank == 0) {
      builder.add(model_step(Verb::copy_send, {}, kInput, kOutput, children));
    } else if (children.empty()) {
      builder.add(model_step(Verb::recv, {{parent[rank], 0}}, {}, kOutput, {}));
    } else {
      builder.add(model_step(Verb::recv_copy_send, {{parent[rank], 0}}, {}, kOutput, children));
    }
  });
}

/// The textbook's ring all_reduce in one lane.
inline Schedule ring_all_reduce(int n) {
  return Schedule(model_shape("ring", Collective::all_reduce, n, n), [n](ProgramBuilder& builder) {
    const int rank = builder.rank(), next = (rank + 1) % n, before = (rank + n - 1) % n;
    const auto add = [&](Verb verb, int back, std::vector<Endpoint> recv, Place src, Place dst, std::vector<int> to) {
      builder.add(model_step(verb, std::move(recv), src, dst, std::move(to), ((rank - back) % n + n) % n));
    };
    add(Verb::send, 0, {}, kInput, {}, {next});
    for (int i = 1; i < n - 1; ++i) add(Verb::recv_reduce_send, i, {{before, 0}}, kInput, {}, {next});
    add(Verb::recv_reduce_copy_send, n - 1, {{before, 0}}, kInput, kOutput, {next});
    for (int i = 0; i < n - 2; ++i) add(Verb::recv_copy_send, i, {{before, 0}}, {}, kOutput, {next});
    add(Verb::recv, n - 2, {{before, 0}}, {}, kOutput, {});
  });
}

}  // namespace ringtree::testing
