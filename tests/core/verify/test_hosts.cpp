// Every algorithm that may use hosts is proved for every number of ranks from 1 to 32 on hosts of all kinds: blocks,
// unequal, interleaved (tests/core/host_groupings.h), for roots at both ends and in the middle.
#include <gtest/gtest.h>

#include <set>

#include "core/algorithms/registry.h"
#include "core/verify/verify.h"
#include "tests/core/host_groupings.h"
#include "tests/core/sanitized.h"

namespace ringtree {
namespace {

std::set<int> roots(Collective collective, int n) {
  return has_root(collective) ? std::set<int>{0, n / 3, n / 2, n - 1} : std::set<int>{0};
}

TEST(Hosts, CompositionsAreVerifiedOnHostsOfAllKinds) {
  int num_checked = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.compose) continue;
    for (Collective collective : algorithm.collectives)
      for (int n = 1; n <= 32; ++n) {
        if (!testing::worth_running(n)) continue;
        for (const HostGroups& hosts : testing::groupings(n))
          for (int root : roots(collective, n)) {
            const Verdict verdict = verify(algorithm.make(collective, n, root, hosts));
            ++num_checked;
            ASSERT_EQ(verdict.problem, "") << algorithm.name << " " << collective_name(collective) << ", root " << root
                                           << ", hosts " << hosts.text();
          }
      }
  }
  EXPECT_GT(num_checked, testing::kSanitized ? 1000 : 4000);
}

}  // namespace
}  // namespace ringtree
