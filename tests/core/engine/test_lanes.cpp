// Lanes that wait for each other: schedules in which a missing dependency gives wrong bytes at once. The built-in
// algorithms hardly need theirs (data that arrives has been waited for already), so they would not show it. How
// dependencies are derived: tests/core/schedule.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

Step step_of(Verb verb, int lane, ChunkRange chunks) {
  Step step;
  step.verb = verb;
  step.lane = lane;
  step.chunks = chunks;
  return step;
}

enum class Relay {
  by_slice,         // lane 0 receives a chunk into the output, lane 1 sends it on slice by slice
  whole_steps,      // lane 0 receives two chunks one by one, lane 1 sends both in one step
  through_scratch,  // both chunks and all passes go through one scratch slot: lane 0 must wait for lane 1, too
};

// Broadcast 0 -> 1 -> 2 of two chunks; what rank 1 does is the point.
AlgorithmRef relay(Relay kind) {
  ScheduleShape shape;
  shape.name = "relay";
  shape.collective = Collective::broadcast;
  shape.num_ranks = 3;
  shape.num_chunks = 2;
  shape.widest = kind == Relay::whole_steps ? 2 : 1;
  const Schedule schedule(shape, [kind](ProgramBuilder& builder) {
    const bool joined = kind == Relay::whole_steps;
    const int slot = kind == Relay::through_scratch && builder.rank() == 1 ? builder.reserve_scratch(1) : 0;
    for (int chunk : {0, 1}) {
      Step from_root = step_of(Verb::copy_send, 0, {chunk, 1, 1});
      from_root.src = kInput;
      from_root.dst = kOutput;
      from_root.send_to = {1};
      Step receive = step_of(Verb::recv, 0, {chunk, 1, 1});
      receive.recv = {{0, 0}};
      receive.dst = kind == Relay::through_scratch ? scratch(slot) : kOutput;
      const ChunkRange sent = joined ? ChunkRange{0, 2, 1} : ChunkRange{chunk, 1, 1};
      Step send_on = step_of(kind == Relay::through_scratch ? Verb::copy_send : Verb::send, 1, sent);
      send_on.src = kind == Relay::through_scratch ? scratch(slot) : kOutput;
      if (kind == Relay::through_scratch) send_on.dst = kOutput;
      send_on.send_to = {2};
      Step at_the_end = step_of(Verb::recv, 0, sent);
      at_the_end.recv = {{1, 0}};
      at_the_end.dst = kOutput;
      if (builder.rank() == 0) builder.add(from_root);
      if (builder.rank() == 1) builder.add(receive);
      if (joined && chunk == 0) continue;
      if (builder.rank() == 1) builder.add(send_on);
      if (builder.rank() == 2) builder.add(at_the_end);
    }
  });
  return own(schedule);
}

constexpr size_t kManyPasses = 300'000;  // of 8 bytes: many passes

void expect_relays_are_right(const Settings& settings, const std::vector<size_t>& counts) {
  const World<uint64_t> world(51, 3, kManyPasses + 10);
  for (Relay kind : {Relay::by_slice, Relay::whole_steps, Relay::through_scratch}) {
    const AlgorithmRef algorithm = relay(kind);
    expect_all_well(run_communicators(3, settings,
                                      [&](Communicator& communicator) {
                                        for (size_t count : counts)
                                          for (bool in_place : {false, true})
                                            make_checked_call(communicator, world,
                                                              {Collective::broadcast, algorithm, Dtype::kInt64, count,
                                                               0, in_place, count % 10, 0});
                                      }),
                    "relay kind " + std::to_string(static_cast<int>(kind)));
  }
}

TEST(Lanes, wait_for_what_they_depend_on_in_every_slice_step_and_pass) {
  for (int num_channels : {1, 3})
    expect_relays_are_right(test_settings(num_channels), {0, 1, 2, 5'000, 60'001, kManyPasses});
}

TEST(Lanes, wait_for_what_they_depend_on_in_emulated_clusters_too) {
  Settings settings = test_settings();
  settings.emulation = Cluster{3, 1, 1e-4, 1e9};
  expect_relays_are_right(settings, {1, 5'000, kManyPasses});
}

// local reduce: dst <- src op dst, in either order, which only an op that rounds can show.
TEST(Lanes, a_local_reduce_folds_in_the_order_that_the_schedule_says) {
  for (int src_at : {0, 1}) {
    ScheduleShape shape;
    shape.name = "local";
    shape.num_ranks = 2;
    const AlgorithmRef algorithm = own(Schedule(shape, [src_at](ProgramBuilder& builder) {
      const int other = 1 - builder.rank(), slot = builder.reserve_scratch(1);
      Step send = step_of(Verb::send, 0, {0, 1, 1});
      send.src = kInput;
      send.send_to = {other};
      Step receive = step_of(Verb::recv, 0, {0, 1, 1});
      receive.recv = {{other, 0}};
      receive.dst = scratch(slot);
      Step copy = step_of(Verb::copy, 1, {0, 1, 1});
      copy.src = kInput;
      copy.dst = kOutput;
      Step fold = step_of(Verb::reduce, 1, {0, 1, 1});
      fold.src = scratch(slot);
      fold.dst = kOutput;
      fold.src_at = src_at;
      builder.add(send).add(copy).add(receive).add(fold);
    }));
    // min keeps the zero of the earliest input: -0 on rank 1, +0 on rank 0.
    expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
      std::vector<float> data(100'000, communicator.rank() == 0 ? 0.0f : -0.0f);
      Call arguments;
      arguments.count = data.size();
      arguments.op = ReduceOp::min;
      arguments.input = arguments.output = data.data();
      communicator.run(with(arguments, algorithm));
      const bool negative = src_at == 0 ? communicator.rank() == 0 : communicator.rank() == 1;
      for (float value : data)
        if (std::signbit(value) != negative) throw std::runtime_error("the operands were swapped");
    }));
  }
}

}  // namespace
}  // namespace ringtree::testing
