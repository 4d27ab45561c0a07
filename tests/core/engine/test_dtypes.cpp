// Dtypes, ops and bits: every dtype is moved bit by bit, sums and averages of several, and results whose bits do not
// depend on the rank or on the run although the sums round. Kernels themselves: tests/core/reduce.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "core/reduce/kernels.h"
#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

std::vector<std::byte> random_bytes(uint64_t seed, int rank, size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(random_word(seed, rank, i));
  return out;
}

Call call_on(Collective collective, Dtype dtype, ReduceOp op, size_t count, const void* input, void* output) {
  Call arguments = call_of(collective, count, dtype, op);
  arguments.input = input;
  arguments.output = output;
  return arguments;
}

TEST(Dtypes, all_are_broadcast_and_gathered_bit_by_bit_at_any_alignment) {
  constexpr int kRanks = 3;
  constexpr size_t kCount = 7001;
  expect_all_well(run_communicators(kRanks, test_settings(2), [&](Communicator& communicator) {
    for (Dtype dtype : kDtypes)
      for (const char* algorithm : {"ring", "tree"}) {
        const size_t bytes = kCount * item_size(dtype);
        const auto rooted = random_bytes(31, 0, bytes);
        GuardedBuffer buffer(bytes, 3);
        if (communicator.rank() == 0) std::memcpy(buffer.data(), rooted.data(), bytes);
        communicator.run(with(
            call_on(Collective::broadcast, dtype, ReduceOp::sum, kCount, buffer.data(), buffer.data()), by(algorithm)));
        const auto mine = random_bytes(32, communicator.rank(), bytes);
        GuardedBuffer all(kRanks * bytes, 1);
        communicator.run(with(call_on(Collective::all_gather, dtype, ReduceOp::sum, kCount, mine.data(), all.data()),
                              by(algorithm)));
        bool right = std::memcmp(buffer.data(), rooted.data(), bytes) == 0;
        for (int rank = 0; rank < kRanks; ++rank)
          right = right && std::memcmp(all.data() + static_cast<size_t>(rank) * bytes,
                                       random_bytes(32, rank, bytes).data(), bytes) == 0;
        if (!right || !buffer.guards_intact() || !all.guards_intact())
          throw std::runtime_error(std::string(dtype_name(dtype)) + " by " + algorithm);
      }
  }));
}

template <typename Item>
void expect_exact_sums(Dtype dtype) {
  const World<Item> world(33, 4, 20'000);
  expect_all_well(run_communicators(4, test_settings(), [&](Communicator& communicator) {
    for (const Algorithm& algorithm : algorithms())
      if (algorithm.supports(Collective::all_reduce))
        make_checked_call(communicator, world,
                          {Collective::all_reduce, by(algorithm.name), dtype, 19'999, 0, false, 1, sizeof(Item)});
  }));
}

TEST(Dtypes, sums_of_several_are_exact) {
  expect_exact_sums<uint8_t>(Dtype::kUint8);
  expect_exact_sums<uint16_t>(Dtype::kInt16);
  expect_exact_sums<uint32_t>(Dtype::kInt32);
  expect_exact_sums<double>(Dtype::kFloat64);
}

// sum, min, max and avg of small whole numbers, against a plain loop; avg divides by the number of ranks at the end.
TEST(Dtypes, ops_equal_a_plain_loop) {
  constexpr int kRanks = 4;
  constexpr size_t kCount = 5000;
  const World<float> world(34, kRanks, kCount);
  expect_all_well(run_communicators(kRanks, test_settings(), [&](Communicator& communicator) {
    for (const char* algorithm : {"naive", "ring", "tree", "halving_doubling", "two_shot"})
      for (ReduceOp op :
           {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg, ReduceOp::premul_sum}) {
        std::vector<float> output(kCount);
        Call arguments = call_on(Collective::all_reduce, Dtype::kFloat32, op, kCount,
                                 world.held[static_cast<size_t>(communicator.rank())].data(), output.data());
        const auto factor = [op](size_t rank) {
          return op == ReduceOp::premul_sum ? static_cast<float>(rank) - 0.5f : 1;
        };
        arguments.factor = static_cast<double>(factor(static_cast<size_t>(communicator.rank())));
        communicator.run(with(arguments, by(algorithm)));
        for (size_t i = 0; i < kCount; ++i) {
          float expected = world.held[0][i] * factor(0);
          for (size_t rank = 1; rank < kRanks; ++rank) {
            const float next = world.held[rank][i] * factor(rank);
            expected = op == ReduceOp::prod  ? expected * next
                       : op == ReduceOp::min ? std::min(expected, next)
                       : op == ReduceOp::max ? std::max(expected, next)
                                             : expected + next;
          }
          if (op == ReduceOp::avg) expected /= kRanks;
          if (output[i] != expected)
            throw std::runtime_error(std::string(algorithm) + ", " + reduce_op_name(op) + ", " + std::to_string(i));
        }
      }
  }));
}

// Each rank's own factor, in every reducing collective, in place or not; the input is only changed where it is the
// output.
TEST(Dtypes, premul_sum_multiplies_each_ranks_input) {
  constexpr int kRanks = 3;
  constexpr size_t kCount = 1'000;
  expect_all_well(run_communicators(kRanks, test_settings(), [&](Communicator& communicator) {
    const int rank = communicator.rank();
    for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter, Collective::reduce})
      for (const bool in_place : {false, true}) {
        const bool scatters = collective == Collective::reduce_scatter;
        const bool gets = rank == 0 || collective != Collective::reduce;
        std::vector<int32_t> input(kCount * (scatters ? kRanks : 1), rank + 1), other(kCount);
        int32_t* const output =
            in_place ? input.data() + (scatters ? static_cast<size_t>(rank) * kCount : 0) : other.data();
        Call arguments =
            call_on(collective, Dtype::kInt32, ReduceOp::premul_sum, kCount, input.data(), gets ? output : nullptr);
        arguments.factor = 10 * (rank + 1);
        communicator.run(arguments);
        for (size_t i = 0; i < kCount && gets; ++i)
          if (output[i] != 10 + 40 + 90) throw std::runtime_error("element " + std::to_string(i) + " is wrong");
        for (const int32_t& item : input) {
          const bool is_output = in_place && gets && &item >= output && &item < output + kCount;
          if (!is_output && item != rank + 1) throw std::runtime_error("the input was changed");
        }
      }
    Call half = call_on(Collective::all_reduce, Dtype::kInt32, ReduceOp::premul_sum, 0, nullptr, nullptr);
    half.factor = 0.5;
    const std::string outcome = outcome_of([&] { communicator.run(half); });
    if (!contains(outcome, "does not fit int32")) throw std::runtime_error(outcome);
  }));
}

TEST(Dtypes, avg_divides_once_in_every_reducing_collective) {
  constexpr int kRanks = 3;
  expect_all_well(run_communicators(kRanks, test_settings(), [&](Communicator& communicator) {
    for (Collective collective : {Collective::all_reduce, Collective::reduce_scatter, Collective::reduce}) {
      std::vector<double> input(3 * kRanks, 6.0 * (communicator.rank() + 1)), output(3 * kRanks, -1.0);
      communicator.run(
          with(call_on(collective, Dtype::kFloat64, ReduceOp::avg, 3, input.data(), output.data()), by("ring")));
      const bool has_output = collective != Collective::reduce || communicator.rank() == 0;
      for (size_t i = 0; i < output.size(); ++i)
        if (output[i] != (has_output && i < 3 ? 12.0 : -1.0)) throw std::runtime_error(collective_name(collective));
    }
  }));
}

// float32 values of very different size, whose sum depends on the order.
std::vector<float> rounding_data(int rank, size_t count) {
  std::vector<float> data(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t word = random_word(35, rank, i);
    const float scale = static_cast<float>(uint64_t{1} << (word >> 58 & 31));
    data[i] = scale * (static_cast<float>(word % 16'777'213) - 8e6f) / 3.0f;
  }
  return data;
}

TEST(Bits, are_the_same_on_all_ranks_and_in_every_run) {
  constexpr size_t kCount = kSanitized ? 20'003 : 70'001;
  for (int n : {3, 4, 6}) {
    for (const Algorithm& algorithm : algorithms()) {
      if (!algorithm.supports(Collective::all_reduce)) continue;
      std::vector<std::vector<float>> results[2];
      for (auto& run : results) {
        run.assign(static_cast<size_t>(n), std::vector<float>(kCount));
        expect_all_well(run_communicators(n, test_settings(2), [&](Communicator& communicator) {
          const auto input = rounding_data(communicator.rank(), kCount);
          std::vector<float>& output = run[static_cast<size_t>(communicator.rank())];
          communicator.run(
              with(call_on(Collective::all_reduce, Dtype::kFloat32, ReduceOp::sum, kCount, input.data(), output.data()),
                   by(algorithm.name)));
        }));
      }
      for (const auto& run : results)
        for (size_t rank = 0; rank < run.size(); ++rank)
          EXPECT_EQ(std::memcmp(run[rank].data(), results[0][0].data(), kCount * sizeof(float)), 0)
              << algorithm.name << ", rank " << rank << " of " << n;
    }
  }
}

TEST(Bits, the_data_of_that_test_does_round) {
  std::vector<float> forwards(1000, 0.0f), backwards(1000, 0.0f);
  for (int rank = 0; rank < 4; ++rank) {
    const auto one = rounding_data(rank, 1000), other = rounding_data(3 - rank, 1000);
    for (size_t i = 0; i < 1000; ++i) {
      forwards[i] += one[i];
      backwards[i] += other[i];
    }
  }
  EXPECT_NE(std::memcmp(forwards.data(), backwards.data(), 4000), 0);
}

// Beyond 2^31 bytes. Two vectors of 2 GB, so only where it is asked for: RINGTREE_BIG_TESTS=1.
TEST(Big, a_vector_of_more_than_two_to_the_31_bytes_is_summed) {
  if (std::getenv("RINGTREE_BIG_TESTS") == nullptr)
    GTEST_SKIP() << "needs 4.3 GB of memory; set RINGTREE_BIG_TESTS=1 to run it";
  constexpr size_t kCount = (size_t{1} << 31) + 1024;
  const auto value = [](size_t index) { return static_cast<uint8_t>(index * 7 + (index >> 20)); };
  for (const char* algorithm : {"ring", "tree"}) {
    const int64_t start_ns = now_ns();
    expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
      std::vector<uint8_t> data(kCount);
      for (size_t i = 0; i < kCount; ++i) data[i] = static_cast<uint8_t>(value(i) + communicator.rank());
      communicator.run(
          with(call_on(Collective::all_reduce, Dtype::kUint8, ReduceOp::sum, kCount, data.data(), data.data()),
               by(algorithm)));
      for (size_t i = 0; i < kCount; ++i)
        if (data[i] != static_cast<uint8_t>(2 * value(i) + 1))
          throw std::runtime_error("element " + std::to_string(i) + " is wrong");
    }));
    std::printf("[ measured ] %s of %zu bytes with data and checks: %.1f s\n", algorithm, kCount,
                static_cast<double>(now_ns() - start_ns) * 1e-9);
  }
}

}  // namespace
}  // namespace ringtree::testing
