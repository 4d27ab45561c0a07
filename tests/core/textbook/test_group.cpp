// Every all_reduce in every style against a plain loop: ranks as threads, exact data, uneven and empty chunks, calls of
// changing sizes one after another, several prepared calls at a time, schedules made by hand.
#include <gtest/gtest.h>

#include "tests/core/textbook/group_threads.h"

namespace ringtree::textbook::testing {
namespace {

class Sums : public ::testing::TestWithParam<std::tuple<int, Style>> {};

TEST_P(Sums, are_exact_with_every_algorithm_and_size) {
  const auto [n, style] = GetParam();
  expect_all_well(run_groups(n, style, [n](Group& group) {
    int call = 0;
    for (const Algorithm& algorithm : algorithms()) {
      if (!algorithm.supports(Collective::all_reduce)) continue;
      const Schedule schedule = by_name(algorithm.name, n);
      // Up and down again: mailboxes grow, and are then larger than needed.
      for (const size_t count : {0u, 1u, 5u, 20'000u, 7u, 129u})
        for (const bool in_place : {false, true}) {
          try {
            sum_checked(group, schedule, count, ++call, in_place);
          } catch (const std::runtime_error& error) {
            throw std::runtime_error(std::string(algorithm.name) + ", " + error.what());
          }
        }
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(RanksAndStyles, Sums,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4, 5, 6), ::testing::ValuesIn(kStyles)),
                         [](const auto& of) {
                           return numbered(style_name(std::get<1>(of.param)), std::get<0>(of.param));
                         });

class Styles : public ::testing::TestWithParam<Style> {};

TEST_P(Styles, keep_prepared_calls_apart) {
  expect_all_well(run_groups(3, GetParam(), [](Group& group) {
    const auto small = group.prepare(by_name("ring", 3), 10, Dtype::kInt64, ReduceOp::sum);
    const auto large = group.prepare(by_name("double_tree", 3), 30'000, Dtype::kInt64, ReduceOp::sum);
    const auto direct = group.prepare(by_name("two_shot", 3), 3'000, Dtype::kInt64, ReduceOp::sum);
    for (int call = 0; call < 30; ++call)
      run_checked(group, call % 3 == 0 ? *small : call % 3 == 1 ? *large : *direct, call, call % 2 == 0);
  }));
}

// More than any socket holds: both sides send before they receive.
TEST_P(Styles, exchange_chunks_that_no_buffer_holds) {
  expect_all_well(run_groups(2, GetParam(),
                             [](Group& group) { sum_checked(group, by_name("ring", 2), size_t{3} << 20, 1, true); }));
}

TEST_P(Styles, fold_with_every_op) {
  expect_all_well(run_groups(3, GetParam(), [](Group& group) {
    const std::pair<ReduceOp, float> ops[] = {{ReduceOp::sum, 6.0f}, {ReduceOp::prod, 6.0f}, {ReduceOp::min, 1.0f},
                                              {ReduceOp::max, 3.0f}, {ReduceOp::avg, 2.0f},  {ReduceOp::land, 1.0f},
                                              {ReduceOp::lor, 1.0f}, {ReduceOp::lxor, 1.0f}};
    for (const auto& [op, expected] : ops) {
      const auto prepared = group.prepare(by_name("ring", 3), 11, Dtype::kFloat32, op);
      std::vector<float> data(11, static_cast<float>(group.rank() + 1));
      group.run(*prepared, data.data(), data.data());
      for (const float value : data)
        if (value != expected) throw std::runtime_error(reduce_op_name(op));
    }
    const std::string outcome =
        outcome_of([&] { group.prepare(by_name("ring", 3), 11, Dtype::kFloat32, ReduceOp::premul_sum); });
    if (!contains(outcome, "the textbook has no premul_sum")) throw std::runtime_error(outcome);
  }));
}

// Two lanes whose messages come long before one of their steps may run, into a chunk that is in two pieces.
TEST_P(Styles, run_schedules_made_by_hand) {
  const auto send = [](ChunkRange chunks, int to, int lane) {
    Step step;
    step.verb = Verb::send;
    step.lane = lane;
    step.chunks = chunks;
    step.src = kInput;
    step.send_to = {to};
    step.send_tag = lane;
    return step;
  };
  const auto fold = [](ChunkRange chunks, int from, int lane) {
    Step step;
    step.verb = Verb::recv_reduce_copy;
    step.lane = lane;
    step.chunks = chunks;
    step.recv = {{from, lane}};
    step.src = kInput;
    step.src_at = from < 1 ? 1 : 0;  // rank 0's contribution first, on both ranks
    step.dst = kOutput;
    return step;
  };
  const ChunkRange ends{3, 2, 1}, middle{1, 2, 1};  // of four: 3 and 0, then 1 and 2
  ScheduleShape shape;
  shape.name = "swap";
  shape.num_ranks = 2;
  shape.num_chunks = 4;
  shape.widest = 2;
  std::vector<std::vector<Step>> steps;
  for (int rank = 0; rank < 2; ++rank)
    steps.push_back(
        {send(ends, 1 - rank, 0), fold(ends, 1 - rank, 0), send(middle, 1 - rank, 1), fold(middle, 1 - rank, 1)});
  const Schedule schedule(shape, std::move(steps), {0, 0});
  expect_all_well(run_groups(2, GetParam(), [&](Group& group) {
    for (const size_t count : {4u, 6u, 3u, 4'001u})
      for (const bool in_place : {false, true}) sum_checked(group, schedule, count, static_cast<int>(count), in_place);
  }));
}

INSTANTIATE_TEST_SUITE_P(All, Styles, ::testing::ValuesIn(kStyles),
                         [](const auto& of) { return style_name(of.param); });

}  // namespace
}  // namespace ringtree::textbook::testing
