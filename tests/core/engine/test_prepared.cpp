// Calls that were made before (prepared_call.h): more kinds than are kept, by turns, with everything that tells one
// kind from another; each time what is recorded of the call is that call. What preparing costs: test_allocations.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

// Fails unless the record is of this call and no other.
void expect_recorded(const Communicator& communicator, const CheckedCall& call, uint64_t sequence) {
  const LastCall last = communicator.last_call();
  const CallDescription& description = last.description;
  const std::string name = call.algorithm.own ? call.algorithm.own->shape().name : call.algorithm.name;
  const bool right = description.sequence == sequence && description.collective == call.collective &&
                     description.dtype == call.dtype && description.op == ReduceOp::sum &&
                     description.root == call.root && description.count == call.count &&
                     description.protocol == call.algorithm.protocol.value_or(Protocol::simple) &&
                     description.slice_bytes == call.algorithm.slice_bytes && description.algorithm == name &&
                     last.configuration.algorithm == name && last.configuration.protocol == description.protocol &&
                     last.configuration.slice_bytes == description.slice_bytes &&
                     (!call.algorithm.streaming || last.configuration.streaming == *call.algorithm.streaming) &&
                     last.reason.empty() && last.num_channels == communicator.settings().num_channels;
  if (!right)
    throw std::runtime_error(call.to_string() + ", call " + std::to_string(sequence) + ", is recorded as call " +
                             std::to_string(description.sequence) + ": " + description.to_string());
}

// Makes the calls on `n` ranks and looks at the record of each.
void expect_calls_recorded(int n, const std::vector<CheckedCall>& calls) {
  const World<uint64_t> world(71, n, 20'000);
  expect_all_well(run_communicators(n, test_settings(), [&](Communicator& communicator) {
    if (communicator.last_call().description.sequence != 0) throw std::runtime_error("a call before the first");
    uint64_t sequence = 0;
    for (const CheckedCall& call : calls) {
      make_checked_call(communicator, world, call);
      expect_recorded(communicator, call, ++sequence);
    }
  }));
}

CheckedCall of_count(size_t count, const AlgorithmRef& algorithm = by("two_shot")) {
  return {Collective::all_reduce, algorithm, Dtype::kInt64, count, 0, count % 2 == 0, count % 7, 0};
}

TEST(PreparedCalls, more_kinds_than_are_kept_by_turns) {
  std::vector<CheckedCall> calls;
  for (int round = 0; round < 3; ++round)
    for (size_t kind = 0; kind < 700; ++kind) calls.push_back(of_count(round == 1 ? 699 - kind : kind));
  expect_calls_recorded(2, calls);
}

TEST(PreparedCalls, two_kinds_by_turns_among_many_that_come_once) {
  std::vector<CheckedCall> calls;
  for (size_t i = 0; i < 600; ++i) {
    calls.push_back(of_count(10));
    calls.push_back(of_count(10'000));
    calls.push_back(of_count(20 + i));
  }
  expect_calls_recorded(2, calls);
}

// Kinds that differ in one thing only, over and over: whatever a look-up overlooked would run the wrong one.
TEST(PreparedCalls, everything_that_is_asked_for_tells_kinds_apart) {
  const CheckedCall usual = of_count(3'000);
  std::vector<CheckedCall> kinds = {usual};
  const auto add = [&](const auto& change) { change(kinds.emplace_back(usual)); };
  add([](CheckedCall& call) { call.count = 3'001; });

  add([](CheckedCall& call) { call.algorithm = by("one_shot"); });
  add([](CheckedCall& call) { call.algorithm = by("tree"); });
  for (Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128})
    add([&](CheckedCall& call) { call.algorithm.protocol = protocol; });
  for (size_t bytes : {10'000, 16'384}) add([&](CheckedCall& call) { call.algorithm.slice_bytes = bytes; });
  for (bool streaming : {false, true}) add([&](CheckedCall& call) { call.algorithm.streaming = streaming; });
  for (Collective collective : {Collective::all_gather, Collective::reduce_scatter})
    add([&](CheckedCall& call) {
      call.collective = collective;
      call.algorithm = by("ring");
    });
  for (Collective collective : {Collective::broadcast, Collective::reduce})
    for (int root : {0, 1, 2})
      add([&](CheckedCall& call) {
        call.collective = collective;
        call.root = root;
        call.algorithm = by("tree");
      });
  for (Protocol protocol : {Protocol::simple, Protocol::ll})
    add([&](CheckedCall& call) { call.algorithm = own(make_schedule("ring", Collective::all_reduce, 3), protocol); });
  std::vector<CheckedCall> calls;
  for (size_t round = 0; round < 4; ++round)
    for (size_t i = 0; i < kinds.size(); ++i) {
      calls.push_back(kinds[(i * (2 * round + 1)) % kinds.size()]);
      if (round % 2 == 1) calls.push_back(usual);
    }
  expect_calls_recorded(3, calls);
}

TEST(PreparedCalls, dtype_and_op_tell_kinds_apart) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    const auto all_reduce_of = [&](Dtype dtype, ReduceOp op, auto mine) {
      auto item = mine;
      Call arguments;
      arguments.dtype = dtype;
      arguments.op = op;
      arguments.count = 1;
      arguments.input = arguments.output = &item;
      communicator.run(with(arguments, by("one_shot")));
      return item;
    };
    const int own = communicator.rank() + 2;  // 2 and 3
    for (int round = 0; round < 10; ++round)
      if (all_reduce_of(Dtype::kInt32, ReduceOp::sum, own) != 5 ||
          all_reduce_of(Dtype::kInt32, ReduceOp::max, own) != 3 ||
          all_reduce_of(Dtype::kInt32, ReduceOp::prod, own) != 6 ||
          all_reduce_of(Dtype::kFloat32, ReduceOp::prod, static_cast<float>(own)) != 6.0f ||
          all_reduce_of(Dtype::kFloat32, ReduceOp::avg, static_cast<float>(own)) != 2.5f)
        throw std::runtime_error("the wrong kernel ran in round " + std::to_string(round));
  }));
}

// What depends on where the buffers lie is kept from call to call: also where others come, or wrong ones, and where the
// kind alone does not say what is summed.
TEST(PreparedCalls, buffers_are_looked_at_again_when_they_change) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    constexpr size_t kCount = 3;
    std::array<float, 2 * kCount> first, second;
    Call call;
    call.count = kCount;
    const auto expect_sum_of = [&](float* input, float* output, float mine, double factor) {
      std::fill_n(input, kCount, mine);
      call.input = input;
      call.output = output;
      call.factor = factor;
      communicator.run(call);
      const float expected = 2 * mine * static_cast<float>(factor);
      if (!std::all_of(output, output + kCount, [&](float item) { return item == expected; }))
        throw std::runtime_error("the sum of " + std::to_string(mine) + " is " + std::to_string(output[0]));
    };
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::premul_sum}) {
      call.op = op;
      const double factor = op == ReduceOp::sum ? 1 : 3;
      float *const one = first.data(), *const other = second.data();
      expect_sum_of(one, other, 1, factor);
      expect_sum_of(one, other, 2, factor);
      expect_sum_of(one, other, 3, op == ReduceOp::sum ? 1 : 5);
      expect_sum_of(other, one, 4, factor);
      expect_sum_of(one, one, 5, factor);
      expect_sum_of(one, one, 6, factor);
      for (const auto& [input, output, why] :
           {std::tuple{one, one + 1, "overlap"}, std::tuple{one, static_cast<float*>(nullptr), "needs an output"}}) {
        call.input = input;
        call.output = output;
        const std::string outcome = outcome_of([&] { communicator.run(call); });
        if (!contains(outcome, why)) throw std::runtime_error("not refused: " + outcome);
      }
      expect_sum_of(one, one, 7, factor);
      expect_sum_of(one, one + kCount, 8, factor);
    }
  }));
}

// A schedule that is made anew for each call has the same hash but is another object.
TEST(PreparedCalls, a_schedule_that_is_made_anew_each_time_runs_over_the_same_links) {
  const World<uint64_t> world(72, 3, 1'000);
  expect_all_well(run_communicators(3, test_settings(), [&](Communicator& communicator) {
    size_t shared_bytes = 0;
    for (size_t i = 0; i < 20; ++i) {
      make_checked_call(communicator, world,
                        of_count(100 + i % 3, own(make_schedule("tree", Collective::all_reduce, 3))));
      if (i == 0) shared_bytes = communicator.shared_bytes();
    }
    if (shared_bytes == 0 || communicator.shared_bytes() != shared_bytes) throw std::runtime_error("links again");
  }));
}

TEST(PreparedCalls, a_call_that_is_refused_leaves_the_record_as_it_was) {
  const World<uint64_t> world(73, 2, 1'000);
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    make_checked_call(communicator, world, of_count(100));
    for (const AlgorithmRef& wrong : {by("rong"), own(make_schedule("ring", Collective::all_reduce, 3))}) {
      const std::string outcome = outcome_of([&] { make_checked_call(communicator, world, of_count(101, wrong)); });
      if (!contains(outcome, "usage: ")) throw std::runtime_error("not refused: " + outcome);
      expect_recorded(communicator, of_count(100), 1);
    }
    Call without_buffers;
    without_buffers.count = 100;
    without_buffers.dtype = Dtype::kInt64;
    const std::string outcome = outcome_of([&] { communicator.run(with(without_buffers, by("two_shot"))); });
    if (!contains(outcome, "usage: needs an input")) throw std::runtime_error("not refused: " + outcome);
    expect_recorded(communicator, of_count(100), 1);
  }));
}

TEST(PreparedCalls, after_a_call_that_failed_there_is_no_record) {
  const auto outcomes = run_communicators(2, test_settings(), [&](Communicator& communicator) {
    sum_of_ones(communicator, 100);
    const std::string outcome = outcome_of([&] { sum_of_ones(communicator, communicator.rank() == 0 ? 100 : 101); });
    if (!contains(outcome, "mismatch: ")) throw std::runtime_error("no mismatch but: " + outcome);
    if (communicator.last_call().description.sequence != 0) throw std::runtime_error("a failed call is recorded");
  });
  expect_all_well(outcomes);
}

}  // namespace
}  // namespace ringtree::testing
