// How many pauses and yields a wait is worth, from call to call (core/engine/wait_policy.h). Not how a rank waits: the
// other tests of this folder wait all the time.
#include <gtest/gtest.h>

#include "core/engine/wait_policy.h"

namespace ringtree {
namespace {

TEST(SpinBudget, HalvesThePausesThatDoNotHelpAndDoublesThoseThatDo) {
  SpinBudget budget(WaitPolicy::own_cores(true));
  EXPECT_EQ(budget.pauses(), 4000);
  budget.spinning_failed();
  EXPECT_EQ(budget.pauses(), 2000);
  for (int i = 0; i < 100; ++i) budget.spinning_failed();
  EXPECT_EQ(budget.pauses(), 20);
  for (int i = 0; i < 100; ++i) budget.spinning_helped();
  EXPECT_EQ(budget.pauses(), 4000);
}

TEST(SpinBudget, YieldsNoMoreAfterALateOneUntilItHasSleptSomeTimes) {
  SpinBudget budget(WaitPolicy::own_cores(true));
  for (int i = 0; i < 1000; ++i) budget.slept();
  EXPECT_EQ(budget.yields(), 200) << "sleeping alone is not a reason to stop";
  budget.yielding_was_late();
  for (int i = 1; i < SpinBudget::kSleepsWithoutYields; ++i) {
    EXPECT_EQ(budget.yields(), 0) << "after " << i - 1 << " sleeps";
    budget.slept();
  }
  EXPECT_EQ(budget.yields(), 0);
  budget.slept();
  EXPECT_EQ(budget.yields(), 200);
}

TEST(SpinBudget, AnotherLateYieldBeginsTheCountAgain) {
  SpinBudget budget(WaitPolicy::own_cores(true));
  for (int late = 0; late < 2; ++late) {
    budget.yielding_was_late();
    for (int i = 1; i < SpinBudget::kSleepsWithoutYields; ++i) budget.slept();
    EXPECT_EQ(budget.yields(), 0);
  }
  budget.slept();
  EXPECT_EQ(budget.yields(), 200);
}

TEST(WaitPolicy, OnlyARankWithItsOwnCoreMindsWhetherYieldsAreLate) {
  EXPECT_GT(WaitPolicy::own_cores(true).late_yield_ns, 0);
  for (const WaitPolicy& policy :
       {WaitPolicy::shared_cores(), WaitPolicy::shared_cores_on_hosts(), WaitPolicy::emulated()})
    EXPECT_EQ(policy.late_yield_ns, 0);
}

}  // namespace
}  // namespace ringtree
