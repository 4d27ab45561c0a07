// Schedules in which a switch reduces are proved like all others, and wrong ones are refused with the name of the
// fault.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/algorithms/registry.h"
#include "core/verify/verify.h"
#include "tests/core/host_groupings.h"
#include "tests/core/sanitized.h"
#include "tests/core/verify/schedules.h"

namespace ringtree {
namespace {

using testing::Steps;
using testing::steps_of;

TEST(Switches, AreVerifiedOnHostsOfAllKinds) {
  int num_checked = 0;
  for (const Algorithm& algorithm : switch_algorithms())
    for (Collective collective : algorithm.collectives)
      for (int n = 1; n <= 32; ++n) {
        if (!testing::worth_running(n)) continue;
        for (const HostGroups& hosts : testing::groupings(n)) {
          if (hosts.num_hosts() > 1 && !algorithm.for_several_hosts) continue;
          const Verdict verdict = verify(algorithm.make(collective, n, 0, hosts));
          ++num_checked;
          ASSERT_EQ(verdict.problem, "") << algorithm.name << " " << collective_name(collective) << ", hosts "
                                         << hosts.text();
        }
      }
  EXPECT_GT(num_checked, testing::kSanitized ? 50 : 200);
}

constexpr int kRanks = 4, kSwitch = kRanks;

Steps nvls() { return steps_of(make_schedule("nvls", Collective::all_reduce, kRanks)); }

/// The first step of a program for which `is` holds.
template <class Is>
Step& find(Steps& steps, int program, const Is& is) {
  auto& all = steps.by_rank[static_cast<size_t>(program)];
  return *std::find_if(all.begin(), all.end(), is);
}

bool sends_to_switch(const Step& step, int chunk) {
  return !step.send_to.empty() && step.send_to[0] == kSwitch && step.src == kInput && step.chunks.first == chunk;
}
bool adds_up(const Step& step, int chunk) { return step.verb == Verb::recv_reduce_send && step.chunks.first == chunk; }

void expect_refused(const Steps& steps, const char* kind, const std::string& part) {
  const Verdict verdict = verify(steps.schedule());
  EXPECT_EQ(verdict.kind, kind) << verdict.problem;
  EXPECT_NE(verdict.problem.find(part), std::string::npos) << verdict.problem;
}

TEST(Switches, APartThatTheSwitchDoesNotTakeIsLeftOver) {
  Steps steps = nvls();
  Step& sum = find(steps, kSwitch, [](const Step& step) { return adds_up(step, 2); });
  std::erase_if(sum.recv, [](const Endpoint& end) { return end.peer == 1; });
  expect_refused(steps, fault::kLedger, "rank 1 sends 1 time to switch 0");
}

TEST(Switches, ASumWithoutARankIsFound) {
  Steps steps = nvls();
  Step& sum = find(steps, kSwitch, [](const Step& step) { return adds_up(step, 2); });
  std::erase_if(sum.recv, [](const Endpoint& end) { return end.peer == 1; });
  std::erase_if(steps.by_rank[1], [](const Step& step) { return sends_to_switch(step, 2); });
  expect_refused(steps, fault::kMissingContribution, "lacks the contribution of rank 1");
}

TEST(Switches, AnOwnerThatAddsItsPartAgainIsFound) {
  Steps steps = nvls();
  Step& taken = find(steps, 2, [](const Step& step) {
    return step.verb == Verb::recv && step.chunks.first == 2 && step.recv[0].tag == 4;
  });
  taken.verb = Verb::recv_reduce_copy;
  taken.src = kInput;
  expect_refused(steps, fault::kDoubleContribution, "counts the contribution of rank 2 to chunk 2 twice");
}

TEST(Switches, ARankThatIsNotToldTheSumIsFound) {
  Steps steps = nvls();
  Step& told = find(steps, kSwitch, [](const Step& step) { return step.verb == Verb::recv_send; });
  const int chunk = told.chunks.first;
  std::erase(told.send_to, 3);
  std::erase_if(steps.by_rank[3], [&](const Step& step) {
    return step.verb == Verb::recv && step.chunks.first == chunk && step.recv[0].tag == 2 * chunk + 1;
  });
  expect_refused(steps, fault::kUninitialised, "rank 3's output chunk " + std::to_string(chunk));
}

TEST(Switches, AnOwnerThatWaitsForItsSumBeforeItSendsItsPartIsADeadlock) {
  Steps steps = nvls();
  auto& own = steps.by_rank[0];
  const auto part = std::find_if(own.begin(), own.end(), [](const Step& step) { return sends_to_switch(step, 0); });
  Step late = *part;
  own.erase(part);
  const auto sum = std::find_if(own.begin(), own.end(), [](const Step& step) {
    return step.verb == Verb::recv && step.recv[0].tag == 0;  // of the sums, not of results
  });
  late.lane = sum->lane;
  own.insert(sum + 1, late);
  expect_refused(steps, fault::kDeadlock, "switch 0");
}

void expect_no_schedule(const Steps& steps, const std::string& part) {
  try {
    steps.schedule();
    FAIL() << "no error";
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Switches, HaveNoBuffersAndNoLinksToEachOther) {
  Steps steps = nvls();
  steps.by_rank[kSwitch][0].verb = Verb::recv_reduce_copy_send;
  steps.by_rank[kSwitch][0].dst = kOutput;
  expect_no_schedule(steps, "nvls: switch 0, step 0 (recv_reduce_copy_send): a switch has no buffers");
  steps = nvls();
  steps.shape.switches.push_back(2);
  steps.num_scratch.push_back(0);
  steps.by_rank.emplace_back();
  EXPECT_TRUE(verify(steps.schedule()).ok);
  steps.by_rank[kSwitch][0].send_to = {kSwitch + 1};
  expect_no_schedule(steps, "switches have no links to each other");
  steps = nvls();
  steps.shape.switches = {7};
  expect_no_schedule(steps, "nvls: a switch is connected to rank 7, which does not exist");
}

}  // namespace
}  // namespace ringtree
