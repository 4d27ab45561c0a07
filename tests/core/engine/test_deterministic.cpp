// Settings::deterministic: the same bits whatever algorithm, protocol, slices and channels run, on data whose sums
// depend on their order; refused where an algorithm cannot. And NaNs, which no collective may lose.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "core/schedule/rank_order.h"
#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

constexpr size_t kElements = 40'000;

/// Floats of all magnitudes, so that sums in another order have other bits.
std::vector<float> wild_floats(int rank) {
  std::vector<float> data(kElements);
  for (size_t i = 0; i < kElements; ++i) {
    const uint64_t word = random_word(5, rank, i);
    data[i] = std::ldexp(static_cast<float>(static_cast<int32_t>(word)), static_cast<int>(word >> 56) % 40 - 20);
  }
  return data;
}

Settings deterministic(int num_channels = 1) {
  Settings settings = test_settings(num_channels);
  settings.deterministic = true;
  return settings;
}

std::vector<float> sum_of_wild(Communicator& communicator, const AlgorithmRef& algorithm) {
  std::vector<float> data = wild_floats(communicator.rank());
  Call arguments;
  arguments.count = data.size();
  arguments.input = arguments.output = data.data();
  communicator.run(with(arguments, algorithm));
  return data;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(Deterministic, gives_the_same_bits_however_the_call_is_run) {
  std::mutex mutex;
  std::vector<float> first;
  for (int num_channels : {1, 3})
    expect_all_well(run_communicators(4, deterministic(num_channels), [&](Communicator& communicator) {
      std::vector<AlgorithmRef> ways{{}};
      for (const Algorithm& algorithm : algorithms()) {
        if (!algorithm.supports(Collective::all_reduce)) continue;
        if (!folds_in_rank_order(algorithm.make(Collective::all_reduce, 4, 0))) continue;
        for (const ProtocolInfo& info : kProtocols)
          for (const size_t slice_bytes : {size_t{0}, size_t{8'192}})
            ways.push_back(by(algorithm.name, info.protocol, slice_bytes));
      }
      if (ways.size() < 7) throw std::runtime_error("fewer than two algorithms can");
      for (const AlgorithmRef& way : ways) {
        const std::vector<float> sum = sum_of_wild(communicator, way);
        const std::lock_guard lock(mutex);
        if (first.empty()) first = sum;
        if (!same_bits(first, sum)) throw std::runtime_error("other bits by " + way.name);
      }
    }));
}

// Or the test above would compare nothing.
TEST(Deterministic, other_algorithms_give_other_bits_and_are_refused) {
  std::vector<float> ordered;
  expect_all_well(run_communicators(4, deterministic(), [&](Communicator& communicator) {
    const std::vector<float> sum = sum_of_wild(communicator, {});
    if (communicator.rank() == 0) ordered = sum;
    const std::string outcome = outcome_of([&] { sum_of_wild(communicator, by("ring")); });
    if (!contains(outcome, "ring does not fold all ranks in one go in rank order")) throw std::runtime_error(outcome);
    // Whole numbers come out alike in any order.
    std::vector<int32_t> whole(100, 1);
    Call arguments;
    arguments.dtype = Dtype::kInt32;
    arguments.count = whole.size();
    arguments.input = arguments.output = whole.data();
    communicator.run(with(arguments, by("ring")));
    if (whole[0] != 4) throw std::runtime_error("a wrong sum");
  }));
  expect_all_well(run_communicators(4, test_settings(), [&](Communicator& communicator) {
    if (same_bits(ordered, sum_of_wild(communicator, by("ring")))) throw std::runtime_error("the data is too tame");
  }));
}

TEST(RankOrder, is_found_in_the_schedule) {
  for (int n : {2, 3, 8}) {
    EXPECT_TRUE(folds_in_rank_order(make_schedule("one_shot", Collective::all_reduce, n)));
    EXPECT_TRUE(folds_in_rank_order(make_schedule("two_shot", Collective::all_reduce, n)));
    EXPECT_TRUE(folds_in_rank_order(make_schedule("direct", Collective::reduce_scatter, n)));
    EXPECT_TRUE(folds_in_rank_order(make_schedule("direct", Collective::reduce, n, n - 1)));
    EXPECT_TRUE(folds_in_rank_order(make_schedule("ring", Collective::all_gather, n)));  // folds nothing
    EXPECT_FALSE(folds_in_rank_order(make_schedule("ring", Collective::all_reduce, n)));
  }
  EXPECT_FALSE(folds_in_rank_order(make_schedule("tree", Collective::all_reduce, 4)));
  EXPECT_FALSE(folds_in_rank_order(make_schedule("recursive_doubling", Collective::all_reduce, 4)));
}

// A NaN at one place on one rank is there on every rank afterwards, and nothing else is.
TEST(NaN, is_never_lost) {
  constexpr size_t kLength = 1'003;
  expect_all_well(run_communicators(3, test_settings(), [](Communicator& communicator) {
    for (const Algorithm& algorithm : algorithms())
      for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter, Collective::reduce})
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg})
          for (int owner = 0; owner < 3 && algorithm.supports(collective); ++owner) {
            const size_t at = (static_cast<size_t>(owner) * 577 + 11) % kLength;
            std::vector<float> data(3 * kLength, 1.0f);
            const bool scatters = collective == Collective::reduce_scatter;
            for (size_t block = 0; block < 3; ++block)
              if (owner == communicator.rank()) data[block * kLength + at] = std::numeric_limits<float>::quiet_NaN();
            Call arguments;
            arguments.collective = collective;
            arguments.op = op;
            arguments.count = kLength;
            arguments.input = data.data();
            float* const out = data.data() + (scatters ? static_cast<size_t>(communicator.rank()) * kLength : 0);
            arguments.output = out;
            communicator.run(with(arguments, by(algorithm.name)));
            if (collective == Collective::reduce && communicator.rank() != 0) continue;
            for (size_t i = 0; i < kLength; ++i)
              if (std::isnan(out[i]) != (i == at))
                throw std::runtime_error(std::string(algorithm.name) + " " + reduce_op_name(op) + ": element " +
                                         std::to_string(i));
          }
  }));
}

}  // namespace
}  // namespace ringtree::testing
