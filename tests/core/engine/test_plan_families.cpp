// Roots in any order over the same links: a pair of ranks shares one pool whoever is the root, and whoever gave slots
// away gets them back. Each collective by itself: test_collectives.cpp.
#include <gtest/gtest.h>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

constexpr size_t kSeveralPasses = 150'000;  // of 8 bytes: several passes

void broadcast(Communicator& communicator, const World<uint64_t>& world, int root, size_t count,
               const std::string& algorithm) {
  make_checked_call(communicator, world,
                    {Collective::broadcast, by(algorithm), Dtype::kInt64, count, root, true, 0, 0});
}

// Runs of one root, so long that it runs out of slots of its own, between calls whose roots change.
TEST(PlanFamilies, roots_in_any_order_give_exact_results) {
  constexpr uint64_t kSeed = 20261122;
  std::printf("[ seed ] %llu\n", static_cast<unsigned long long>(kSeed));
  for (int n : {2, 3, 4}) {
    const World<uint64_t> world(kSeed, n, kSeveralPasses);
    std::vector<CheckedCall> calls;
    for (const Algorithm& algorithm : algorithms())
      for (Collective collective : algorithm.collectives) {
        if (!has_root(collective)) continue;
        for (size_t i = 0; i < 40; ++i) {
          const size_t longest = has_blocks(collective) ? kSeveralPasses / static_cast<size_t>(n) : kSeveralPasses;
          const size_t counts[] = {1, 100, 5'000, longest};
          const bool long_run = i % 20 < 12;  // more than the 8 messages that a link may have under way
          const int root = static_cast<int>(random_word(kSeed, 0, long_run ? i / 20 : i) % static_cast<uint64_t>(n));
          const size_t count = counts[random_word(kSeed, 1, i) % (kSanitized ? 3 : 4)];
          calls.push_back({collective, by(algorithm.name), Dtype::kInt64, count, root, i % 2 == 0, 0, 0});
        }
      }
    expect_all_well(run_communicators(n, test_settings(), [&](Communicator& communicator) {
      for (const CheckedCall& call : calls) make_checked_call(communicator, world, call);
    }));
  }
}

// The lower rank makes the pool, also when it only receives in the first call.
TEST(PlanFamilies, two_ranks_share_one_pool_whoever_is_the_first_root) {
  constexpr size_t kPool = size_t{2} << 20, kLines = size_t{64} << 10;
  const World<uint64_t> world(1, 2, 100);
  for (int first : {0, 1}) {
    size_t taken[2][2] = {};
    expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
      size_t (&mine)[2] = taken[communicator.rank()];
      broadcast(communicator, world, first, 100, "tree");
      mine[0] = communicator.shared_bytes();
      broadcast(communicator, world, 1 - first, 100, "tree");
      mine[1] = communicator.shared_bytes();
    }));
    EXPECT_GE(taken[0][0], kPool);
    EXPECT_LT(taken[0][1], kPool + kLines) << "no second pool";
    EXPECT_LT(taken[1][1], kLines) << "lines only";
  }
}

TEST(PlanFamilies, algorithms_do_not_share_pools) {
  const World<uint64_t> world(1, 2, 100);
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    broadcast(communicator, world, 0, 100, "tree");
    const size_t before = communicator.shared_bytes();
    broadcast(communicator, world, 0, 100, "chain");
    if (communicator.rank() == 0 && communicator.shared_bytes() < before + (size_t{2} << 20))
      throw std::runtime_error("another algorithm counts its own links");
  }));
}

}  // namespace
}  // namespace ringtree::testing
