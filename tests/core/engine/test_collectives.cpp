// Every collective by every algorithm and protocol, for many numbers of ranks, sizes, roots, in place and out of place,
// with one and three channels: exact data, compared with ==. The checker itself must fail on a wrong schedule. Other
// dtypes and ops: test_dtypes.cpp; how calls are cut: test_slices.cpp; calls one after another over the same links:
// test_handover.cpp.
#include <gtest/gtest.h>

#include "tests/core/engine/every_call.h"

namespace ringtree::testing {
namespace {

class EveryCollective : public ::testing::TestWithParam<std::tuple<int, int, Protocol>> {};

TEST_P(EveryCollective, gives_exact_results_and_touches_nothing_else) {
  const auto [n, num_channels, protocol] = GetParam();
  // Words whose every bit counts on one channel, small whole floats on three.
  if (num_channels == 1) {
    const World<uint64_t> world(11, n, kLarge + kMaxShift);
    const auto calls = every_call(n, protocol, Dtype::kInt64);
    expect_all_well(run_communicators(n, test_settings(num_channels), [&](Communicator& communicator) {
      for (const CheckedCall& call : calls) make_checked_call(communicator, world, call);
    }));
  } else {
    const World<float> world(12, n, kLarge + kMaxShift);
    const auto calls = every_call(n, protocol, Dtype::kFloat32);
    expect_all_well(run_communicators(n, test_settings(num_channels), [&](Communicator& communicator) {
      for (const CheckedCall& call : calls) make_checked_call(communicator, world, call);
    }));
  }
}

/// With one channel and with three; under a sanitizer more than three ranks with one of them: even numbers with one.
std::vector<std::tuple<int, int, Protocol>> worlds(const std::vector<int>& numbers_of_ranks,
                                                   const std::vector<Protocol>& protocols) {
  std::vector<std::tuple<int, int, Protocol>> all;
  for (int n : numbers_of_ranks)
    for (int num_channels : {1, 3})
      for (Protocol protocol : protocols)
        if (!kSanitized || n <= 3 || (n % 2 == 0) == (num_channels == 1)) all.emplace_back(n, num_channels, protocol);
  return all;
}

// Under a sanitizer without two that run the lines of their neighbours: powers of two and others, odd and even stay.
std::vector<int> ranks_of_simple() {
  return kSanitized ? std::vector<int>{1, 2, 3, 5, 8} : std::vector<int>{1, 2, 3, 4, 5, 7, 8};
}
INSTANTIATE_TEST_SUITE_P(Simple, EveryCollective, ::testing::ValuesIn(worlds(ranks_of_simple(), {Protocol::simple})));
// Of these every message finds its place in the same way whatever the number of ranks: fewer will do.
// (Their links have slots of their own, much memory with many ranks and channels: slow where each page has a
// shadow.)
INSTANTIATE_TEST_SUITE_P(Flagged, EveryCollective,
                         ::testing::ValuesIn(worlds({1, 2, 3, kSanitized ? 4 : 7}, {Protocol::ll, Protocol::ll128})));

TEST(Collectives, the_large_count_takes_several_passes_for_every_algorithm) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    std::vector<uint64_t> data(kLarge);
    for (const Algorithm& algorithm : algorithms())
      for (const ProtocolInfo& info : kProtocols) {
        if (!algorithm.supports(Collective::all_reduce)) continue;
        Call arguments;
        arguments.dtype = Dtype::kInt64;
        arguments.count = data.size();
        arguments.input = arguments.output = data.data();
        communicator.run(with(arguments, by(algorithm.name, info.protocol)));
        if (communicator.last_call().cut.num_passes < 2)
          throw std::runtime_error(std::string(algorithm.name) + " does not");
        if (communicator.last_call().configuration.protocol != info.protocol)
          throw std::runtime_error(std::string(info.name) + " was not run");
      }
  }));
}

TEST(Collectives, more_ranks_than_cores_make_progress) {
  constexpr int kRanks = 16;
  const World<uint64_t> world(13, kRanks, 40'000);
  expect_all_well(run_communicators(kRanks, test_settings(), [&](Communicator& communicator) {
    for (const Algorithm& algorithm : algorithms())
      for (size_t count : {size_t{1}, size_t{2'000}, size_t{40'000}})
        if (algorithm.supports(Collective::all_reduce))
          make_checked_call(communicator, world,
                            {Collective::all_reduce, by(algorithm.name), Dtype::kInt64, count, 0, true, 0, 0});
  }));
}

// The generator of an all_reduce for two ranks in which each adds the other's vector; with `forgetful` rank 1 keeps its
// own instead.
Schedule swap_and_add(bool forgetful) {
  ScheduleShape shape;
  shape.name = "swap-and-add";
  shape.num_ranks = 2;
  return Schedule(shape, [forgetful](ProgramBuilder& builder) {
    const int rank = builder.rank(), other = 1 - rank;
    const int scratch_slot = builder.reserve_scratch(1);
    Step send, fold;
    send.verb = Verb::send;
    send.src = kInput;
    send.send_to = {other};
    fold.recv = {{other, 0}};
    if (forgetful && rank == 1) {
      fold.verb = Verb::recv;
      fold.dst = scratch(scratch_slot);
    } else {
      fold.verb = Verb::recv_reduce_copy;
      fold.src = kInput;
      fold.src_at = rank == 0 ? 0 : 1;
      fold.dst = kOutput;
    }
    builder.add(send).add(fold);
    if (forgetful && rank == 1) {
      Step copy;
      copy.verb = Verb::copy;
      copy.src = kInput;
      copy.dst = kOutput;
      builder.add(copy);
    }
  });
}

TEST(Collectives, a_schedule_of_the_users_own_runs) {
  const World<uint64_t> world(14, 2, kMedium);
  const AlgorithmRef algorithm = own(swap_and_add(false));
  expect_all_well(run_communicators(2, test_settings(3), [&](Communicator& communicator) {
    for (size_t count : {size_t{0}, size_t{1}, size_t{5000}, kMedium})
      for (bool in_place : {false, true})
        make_checked_call(communicator, world,
                          {Collective::all_reduce, algorithm, Dtype::kInt64, count, 0, in_place, 0, 0});
    if (std::string(communicator.last_call().description.algorithm) != "swap-and-add")
      throw std::runtime_error("the call does not name its schedule");
  }));
}

TEST(Collectives, the_check_fails_on_a_schedule_that_forgets_a_contribution) {
  const World<uint64_t> world(15, 2, 100);
  const AlgorithmRef algorithm = own(swap_and_add(true));
  const auto outcomes = run_communicators(2, test_settings(), [&](Communicator& communicator) {
    make_checked_call(communicator, world, {Collective::all_reduce, algorithm, Dtype::kInt64, 100, 0, false, 0, 0});
  });
  EXPECT_EQ(outcomes[0], "");
  EXPECT_TRUE(contains(outcomes[1], "element 0 is wrong")) << outcomes[1];
}

TEST(Collectives, several_communicators_live_in_one_process) {
  const World<uint64_t> world(16, 3, 5000);
  ThreadStore store;
  expect_all_well(run_ranks(3, [&](int rank) {
    Communicator first(store, rank, 3, test_settings(), built_in_table(), "first");
    Communicator second(store, rank, 3, test_settings(3), built_in_table(), "second");
    // The third has the ranks in reverse.
    Communicator third(store, 2 - rank, 3, test_settings(), built_in_table(), "third");
    for (size_t shift = 0; shift < 20; ++shift)
      for (Communicator* communicator : {&first, &second, &third})
        make_checked_call(*communicator, world,
                          {Collective::all_reduce, by("tree"), Dtype::kInt64, 1000, 0, false, shift, 0});
  }));
}

TEST(Collectives, auto_runs_and_says_why) {
  const World<uint64_t> world(17, 3, kMedium);
  expect_all_well(run_communicators(3, test_settings(), [&](Communicator& communicator) {
    for (Collective collective : kCollectives)
      for (size_t count : {size_t{1}, kMedium / 3}) {
        make_checked_call(communicator, world, {collective, {}, Dtype::kInt64, count, 0, false, 0, 0});
        if (communicator.last_call().reason.empty()) throw std::runtime_error("no reason");
      }
  }));
}

}  // namespace
}  // namespace ringtree::testing
