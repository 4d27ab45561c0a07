// Ranks as processes that are killed in mid-collective: every survivor says who died, in which call, and nobody hangs.
// The parent has no threads when it forks.
#include <gtest/gtest.h>

#include "core/bootstrap/unix_store.h"
#include "tests/core/bootstrap/child_process.h"
#include "tests/core/textbook/group_threads.h"

namespace ringtree::textbook::testing {
namespace {

using Pipe = ChildProcess::Pipe;

class Death : public ::testing::TestWithParam<std::tuple<int, Style>> {};

TEST_P(Death, in_mid_collective_is_reported_by_every_survivor) {
  const auto [n, style] = GetParam();
  const std::string id = unique_id();
  const int victim = n - 1;
  std::vector<ChildProcess> ranks;
  for (int rank = 0; rank < n; ++rank)
    ranks.emplace_back([=, style = style, n = n](const Pipe& pipe) {
      UnixStore store(id, rank, patience());
      Group group(store, rank, n, style, kTestTimeoutSeconds, "test");
      const auto prepared = group.prepare(by_name("ring", n), 200'000, Dtype::kInt64, ReduceOp::sum);
      std::string outcome;
      for (int call = 1; outcome.empty(); ++call) {
        if (rank == victim && call == 5) pipe.say("in call");
        outcome = outcome_of([&] { run_checked(group, *prepared, call, true); });
      }
      pipe.say(outcome);
      pipe.hear();
      return 0;
    });
  ASSERT_EQ(ranks[static_cast<size_t>(victim)].pipe().hear(), "in call");
  const int64_t killed_ns = now_ns();
  ranks[static_cast<size_t>(victim)].kill_now();
  const std::string expected = "peer: rank " + std::to_string(victim) + " (pid " +
                               std::to_string(ranks[static_cast<size_t>(victim)].pid()) +
                               ") died before it completed all_reduce by ring (textbook-" + style_name(style);
  for (int rank = 0; rank < victim; ++rank) {
    const std::string line = ranks[static_cast<size_t>(rank)].pipe().hear();
    EXPECT_EQ(line.rfind(expected, 0), 0u) << "rank " << rank << ": " << line;
  }
  EXPECT_LT(now_ns() - killed_ns, int64_t{10'000'000'000});  // far below the calls' deadline
}

INSTANTIATE_TEST_SUITE_P(RanksAndStyles, Death,
                         ::testing::Combine(::testing::Values(2, 4), ::testing::ValuesIn(kStyles)), [](const auto& of) {
                           return numbered(style_name(std::get<1>(of.param)), std::get<0>(of.param));
                         });

}  // namespace
}  // namespace ringtree::textbook::testing
