// The hand-off probe: finds a time where there are two cores, finds nothing where there are not, and always comes back.
// No speed is asserted: what is near on one machine is far on another.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/probe/handoff.h"
#include "tests/core/probe/usable_cores.h"

namespace ringtree {
namespace {

constexpr int64_t kLongNs = 60'000'000'000;  // a probe that takes this long hangs

void expect_is_time(const std::optional<double>& time) {
  ASSERT_TRUE(time.has_value());
  EXPECT_TRUE(std::isfinite(*time));
  EXPECT_GT(*time, 0);
  EXPECT_LT(*time, 1);
}

class HandoffOnTwoCores : public testing::Test {
 protected:
  void SetUp() override {
    if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  }
  const std::vector<int> cores = usable_cores();
};

TEST_F(HandoffOnTwoCores, finds_a_positive_time_again_and_again_with_one_pair_of_threads) {
  HandoffProbe probe(cores[0], cores[1], kPatient);
  for (int i = 0; i < 50; ++i) expect_is_time(probe.measure(50e-6));
}

TEST_F(HandoffOnTwoCores, measures_one_chunk_even_in_no_time) {
  HandoffProbe probe(cores[0], cores[1], kPatient);
  expect_is_time(probe.measure(0));
}

TEST_F(HandoffOnTwoCores, takes_as_long_as_it_was_told_and_comes_back) {
  HandoffProbe probe(cores[0], cores[1], kPatient);
  const int64_t start_ns = now_ns();
  expect_is_time(probe.measure(0.03));
  EXPECT_GE(now_ns() - start_ns, 30'000'000);
  EXPECT_LT(now_ns() - start_ns, kLongNs);
}

TEST_F(HandoffOnTwoCores, the_time_is_of_one_way_and_not_of_more) {
  // Even the shortest measurement has three chunks of 64 round trips, so 384 hand-offs fit into the call.
  HandoffProbe probe(cores[0], cores[1], kPatient);
  for (int i = 0; i < 100; ++i) {
    const int64_t start_ns = now_ns();
    const std::optional<double> time = probe.measure(0);
    const auto taken_ns = static_cast<double>(now_ns() - start_ns);
    expect_is_time(time);
    EXPECT_LE(384 * *time * 1e9, taken_ns * 1.001);
  }
}

TEST_F(HandoffOnTwoCores, leaves_the_callers_affinity_alone) {
  HandoffProbe probe(cores[0], cores[1], kPatient);
  expect_is_time(probe.measure(1e-4));
  EXPECT_EQ(usable_cores(), cores);
}

TEST_F(HandoffOnTwoCores, two_callers_at_once_both_get_a_time) {
  HandoffProbe probe(cores[0], cores[1], kPatient);
  std::optional<double> theirs;
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) theirs = probe.measure(20e-6);
  });
  std::optional<double> ours;
  for (int i = 0; i < 20; ++i) ours = probe.measure(20e-6);
  other.join();
  expect_is_time(ours);
  expect_is_time(theirs);
}

TEST_F(HandoffOnTwoCores, two_probes_may_exist_and_one_may_never_be_used) {
  HandoffProbe unused(cores[0], cores[1]);
  HandoffProbe there(cores[0], cores[1], kPatient), back(cores[1], cores[0], kPatient);
  expect_is_time(there.measure(20e-6));
  expect_is_time(back.measure(20e-6));
}

TEST_F(HandoffOnTwoCores, without_patience_it_answers_or_gives_up_at_once_and_recovers) {
  // With neither duration nor patience the deadline has passed when the threads wake up, unless they are very fast.
  HandoffProbe probe(cores[0], cores[1], 0);
  const int64_t start_ns = now_ns();
  for (int i = 0; i < 200; ++i)
    if (const std::optional<double> time = probe.measure(0)) expect_is_time(time);
  EXPECT_LT(now_ns() - start_ns, kLongNs);
}

TEST(Handoff, finds_nothing_on_cores_that_do_not_exist_and_comes_back) {
  const std::vector<int> cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  for (const auto& [a, b] : {std::pair{cores[0], kImpossibleCore}, std::pair{kImpossibleCore, cores[0]},
                             std::pair{-1, cores[0]}, std::pair{kImpossibleCore, kImpossibleCore + 1}}) {
    HandoffProbe probe(a, b, 60);  // and does not wait for what can't come
    const int64_t start_ns = now_ns();
    EXPECT_EQ(probe.measure(0.01), std::nullopt) << a << " " << b;
    EXPECT_EQ(probe.measure(0.01), std::nullopt) << a << " " << b;
    EXPECT_LT(now_ns() - start_ns, kLongNs / 2);
  }
}

TEST(Handoff, finds_nothing_on_one_core_and_comes_back) {
  const std::vector<int> cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  HandoffProbe probe(cores[0], cores[0], 60);
  const int64_t start_ns = now_ns();
  EXPECT_EQ(probe.measure(1e-4), std::nullopt);
  EXPECT_LT(now_ns() - start_ns, kLongNs / 2);
}

TEST(Handoff, refuses_times_that_are_none) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  HandoffProbe probe(0, 1);
  for (double seconds : {-1e-9, 61.0, kNan, kInfinity}) {
    EXPECT_THROW(probe.measure(seconds), UsageError) << seconds;
    EXPECT_THROW(HandoffProbe(0, 1, seconds), UsageError) << seconds;
  }
}

}  // namespace
}  // namespace ringtree
