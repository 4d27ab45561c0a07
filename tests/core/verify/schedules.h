// Small schedules made by hand for the verifier's tests, so that they do not depend on the built-in algorithms, and a
// way to change one step of any schedule. Not a library of algorithms.
#pragma once

#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree::testing {

/// A schedule's steps as plain data that a test may change.
struct Steps {
  ScheduleShape shape;
  std::vector<std::vector<Step>> by_rank;
  std::vector<int> num_scratch;

  Schedule schedule() const { return Schedule(shape, by_rank, num_scratch); }
};

inline Steps steps_of(const Schedule& schedule) {
  Steps steps{schedule.shape(), {}, {}};
  for (int rank = 0; rank < steps.shape.num_programs(); ++rank) {
    const Program program = schedule.program(rank);
    steps.by_rank.push_back(program.steps());
    steps.num_scratch.push_back(program.num_scratch());
  }
  return steps;
}

/// StepMaker(Verb::recv_reduce_copy, {3, 1}).from({{2, 0}}).with(kInput).into(kOutput): a Step in one expression.
struct StepMaker : Step {
  explicit StepMaker(Verb step_verb, ChunkRange range = {0, 1}) { verb = step_verb, chunks = range; }
  StepMaker& in_lane(int number) { return lane = number, *this; }
  StepMaker& from(std::vector<Endpoint> peers) { return recv = std::move(peers), *this; }
  StepMaker& with(Place place, int at = 0) { return src = place, src_at = at, *this; }
  StepMaker& into(Place place) { return dst = place, *this; }
  StepMaker& to(std::vector<int> peers) { return send_to = std::move(peers), *this; }
};

inline ScheduleShape shape_of_test(const char* name, Collective collective, int num_ranks, int num_chunks) {
  return {name, collective, num_ranks, 0, num_chunks, 1, {}};
}

/// The textbook's ring all_reduce: n-1 steps of reduce-scatter, n-1 of all-gather; 2n-1 steps a rank.
inline Schedule hand_ring(int n) {
  return Schedule(shape_of_test("hand_ring", Collective::all_reduce, n, n), [n](ProgramBuilder& builder) {
    const int rank = builder.rank(), next = (rank + 1) % n, before = (rank + n - 1) % n;
    const auto chunk = [&](int back) { return ChunkRange{((rank - back) % n + n) % n, 1}; };
    const auto add = [&](Verb verb, int back, bool receives, Place src, Place dst, bool sends) {
      Step step = StepMaker(verb, chunk(back)).with(src).into(dst);
      if (receives) step.recv = {{before, 0}};
      if (sends) step.send_to = {next};
      builder.add(step);
    };
    add(Verb::send, 0, false, kInput, {}, true);
    for (int i = 1; i < n - 1; ++i) add(Verb::recv_reduce_send, i, true, kInput, {}, true);
    add(Verb::recv_reduce_copy_send, n - 1, true, kInput, kOutput, true);
    for (int i = 0; i < n - 2; ++i) add(Verb::recv_copy_send, i, true, {}, kOutput, true);
    add(Verb::recv, n - 2, true, {}, kOutput, false);
  });
}

/// All ranks multicast their input to all others and fold everything in rank order.
inline Schedule hand_one_shot(int n) {
  return Schedule(shape_of_test("hand_one_shot", Collective::all_reduce, n, 1), [n](ProgramBuilder& builder) {
    const int rank = builder.rank();
    Step send = StepMaker(Verb::send).with(kInput);
    Step fold = StepMaker(Verb::recv_reduce_copy).in_lane(1).with(kInput, rank).into(kOutput);
    for (int peer = 0; peer < n; ++peer) {
      if (peer == rank) continue;
      send.send_to.push_back(peer);
      fold.recv.push_back({peer, 0});
    }
    builder.add(send).add(fold);
  });
}

/// Two ranks swap their inputs through scratch and fold locally with the verb `reduce`, in rank order.
inline Schedule hand_scratch_swap() {
  return Schedule(shape_of_test("hand_scratch_swap", Collective::all_reduce, 2, 2), [](ProgramBuilder& builder) {
    const int rank = builder.rank(), peer = 1 - rank;
    const int first = builder.reserve_scratch(2);
    for (int chunk = 0; chunk < 2; ++chunk) builder.add(StepMaker(Verb::send, {chunk, 1}).with(kInput).to({peer}));
    for (int chunk = 0; chunk < 2; ++chunk)
      builder.add(StepMaker(Verb::recv, {chunk, 1}).in_lane(1).from({{peer, 0}}).into(scratch(first + chunk)));
    for (int chunk = 0; chunk < 2; ++chunk) {
      builder.add(StepMaker(Verb::copy, {chunk, 1}).in_lane(1).with(kInput).into(kOutput));
      builder.add(
          StepMaker(Verb::reduce, {chunk, 1}).in_lane(1).with(scratch(first + chunk), rank == 0 ? 1 : 0).into(kOutput));
    }
  });
}

/// Broadcast from rank 0 along a chain.
inline Schedule hand_chain_broadcast(int n) {
  return Schedule(shape_of_test("hand_chain", Collective::broadcast, n, 1), [n](ProgramBuilder& builder) {
    const int rank = builder.rank();
    Step step = StepMaker(Verb::send, {0, 1}).into(kOutput);
    if (rank > 0) step.recv = {{rank - 1, 0}};
    if (rank + 1 < n) step.send_to = {rank + 1};
    if (rank == 0) step.src = kInput;
    if (n == 1) step.verb = Verb::copy;
    if (n > 1) step.verb = rank == 0 ? Verb::copy_send : rank + 1 < n ? Verb::recv_copy_send : Verb::recv;
    builder.add(step);
  });
}

}  // namespace ringtree::testing
