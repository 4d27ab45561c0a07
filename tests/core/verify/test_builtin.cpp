// Every built-in algorithm, every collective that it does, every number of ranks from 1 to 64 and the roots at both
// ends pass the verifier; larger numbers by sampling.
#include <gtest/gtest.h>

#include "core/algorithms/registry.h"
#include "core/verify/verify.h"
#include "tests/core/sanitized.h"

namespace ringtree {
namespace {

void expect_verified(const Algorithm& algorithm, Collective collective, int num_ranks) {
  if (!testing::worth_running(num_ranks)) return;
  for (int root : {0, num_ranks - 1}) {
    if (root != 0 && !has_root(collective)) continue;
    const Verdict verdict = verify(algorithm.make(collective, num_ranks, root));
    EXPECT_EQ(verdict.problem, "") << collective_name(collective) << ", " << num_ranks << " ranks, root " << root;
  }
}

TEST(Builtin, AllAreVerifiedFor1To64Ranks) {
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives)
      for (int num_ranks = 1; num_ranks <= 64; ++num_ranks) expect_verified(algorithm, collective, num_ranks);
}

TEST(Builtin, LargerOnesBySampling) {
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives)
      for (int num_ranks : {65, 128, 150}) expect_verified(algorithm, collective, num_ranks);
}

TEST(Builtin, MixesAreVerified) {
  for (const char* name : {"ring+double_tree", "ring:3+tree", "recursive_doubling+ring", "one_shot+two_shot+chain:2"})
    for (int num_ranks = 1; num_ranks <= 24; ++num_ranks) {
      if (!testing::worth_running(num_ranks)) continue;
      const Verdict verdict = verify(make_schedule(name, Collective::all_reduce, num_ranks));
      EXPECT_EQ(verdict.problem, "") << name << ", " << num_ranks << " ranks";
    }
  for (const int root : {0, 5})
    EXPECT_EQ(verify(make_schedule("ring+tree", Collective::broadcast, 6, root)).problem, "");
  EXPECT_EQ(verify(make_schedule("ring+direct", Collective::reduce_scatter, 7)).problem, "");
}

}  // namespace
}  // namespace ringtree
