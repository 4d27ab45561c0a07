// Every collective through the C functions, even and uneven, against a plain loop: that each function hands the engine
// what its name says. What algorithms, protocols and sizes do to a result is the engine's tests' business.
#include <gtest/gtest.h>

#include "tests/core/capi/capi_ranks.h"

namespace ringtree::testing {
namespace {

constexpr size_t kCounts[] = {0, 1, 7, 1'000};
constexpr size_t kLongest = 4'000;  // of a block, with uneven blocks
constexpr uint64_t kSeed = 20'251;

template <typename Item>
void call_all(Comm& comm, const World<Item>& world, Dtype dtype, bool uneven) {
  ThroughC caller(comm);
  for (Collective collective : kCollectives)
    for (size_t count : kCounts)
      for (bool in_place : {false, true}) {
        if (uneven && !has_blocks(collective)) continue;
        const int num_roots = has_root(collective) ? comm.world_size() : 1;
        for (int root = 0; root < num_roots; ++root) {
          CheckedCall call;
          call.collective = collective;
          call.dtype = dtype;
          call.count = count;
          call.root = root;
          call.in_place = in_place;
          call.uneven = uneven;
          call.shift = static_cast<size_t>(root);
          call.misalignment = count == 7 ? 1 : 0;
          make_checked_call(caller, world, call);
        }
      }
}

class Collectives : public ::testing::TestWithParam<int> {};

TEST_P(Collectives, give_what_a_plain_loop_gives) {
  const int n = GetParam();
  const size_t length = static_cast<size_t>(n) * kLongest + static_cast<size_t>(n);
  const World<int64_t> integers(kSeed, n, length);
  const World<float> floats(kSeed + 1, n, length);
  expect_all_well(run_comms(n, [&](Comm& comm) {
    for (bool uneven : {false, true}) {
      call_all(comm, integers, Dtype::kInt64, uneven);
      call_all(comm, floats, Dtype::kFloat32, uneven);
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, ::testing::Values(1, 2, 3, 4));

TEST(Collectives, of_every_datatype_move_its_bytes) {
  constexpr int kRanks = 3;
  expect_all_well(run_comms(kRanks, [](Comm& comm) {
    for (Dtype dtype : kDtypes) {
      constexpr size_t kCount = 129;
      std::vector<unsigned char> input(kCount * item_size(dtype)), output(kRanks * input.size());
      const auto byte_of = [](int rank, size_t i) {
        return static_cast<unsigned char>(random_word(kSeed, rank, i) & 1);  // also a bool
      };
      for (size_t i = 0; i < input.size(); ++i) input[i] = byte_of(comm.rank(), i);
      ok(rtAllGather(input.data(), output.data(), kCount, static_cast<rtDataType_t>(dtype), comm));
      for (size_t i = 0; i < output.size(); ++i)
        require_true(output[i] == byte_of(static_cast<int>(i / input.size()), i % input.size()),
                     std::string(dtype_name(dtype)) + ": byte " + std::to_string(i) + " is wrong");
    }
  }));
}

TEST(Collectives, barrier_returns_when_all_have_called_it) {
  constexpr int kRanks = 4, kRounds = 50;
  std::atomic<int> num_begun{0};
  expect_all_well(run_comms(kRanks, [&](Comm& comm) {
    for (int round = 1; round <= kRounds; ++round) {
      num_begun.fetch_add(1);
      ok(rtBarrier(comm));
      require_true(num_begun.load() >= kRanks * round, "it returned before all had come");
      ok(rtBarrier(comm));  // so that nobody counts for the next round yet
    }
  }));
}

TEST(Collectives, with_buffers_of_rt_mem_alloc) {
  constexpr size_t kCount = 100'000;
  rtConfig_t config = test_config();
  config.shared_buffers = 1;
  expect_all_well(run_comms(
      3,
      [](Comm& comm) {
        void* memory = nullptr;
        ok(rtMemAlloc(&memory, kCount * sizeof(float)));
        auto* const data = static_cast<float*>(memory);
        for (size_t i = 0; i < kCount; ++i) require_true(data[i] == 0, "not zeroed");
        for (int round = 0; round < 3; ++round) {
          std::fill_n(data, kCount, 1.0f);
          ok(rtAllReduce(data, data, kCount, rtFloat32, rtSum, comm));
          for (size_t i = 0; i < kCount; ++i) require_true(data[i] == 3, "a wrong sum");
        }
        ok(rtMemFree(memory));
        require_true(rtMemFree(memory) == rtInvalidArgument, "given back twice");
      },
      config));
}

}  // namespace
}  // namespace ringtree::testing
