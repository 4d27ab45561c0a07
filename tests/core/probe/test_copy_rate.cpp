// The copy rate: positive and finite where cores copy, nothing where one cannot, bounded memory, refusal of nonsense.
// No speed is asserted.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/probe/copy_rate.h"
#include "tests/core/probe/usable_cores.h"

namespace ringtree {
namespace {

constexpr size_t kCap = size_t{256} << 20;
constexpr double kShort = 2e-3;

TEST(CopyRate, is_positive_and_finite_for_sizes_within_and_beyond_the_caches) {
  const std::vector<int> cores = usable_cores();
  const std::vector<int> used(cores.begin(), cores.begin() + static_cast<long>(std::min<size_t>(2, cores.size())));
  // odd sizes, a line, a page and one byte, more than a megabyte (also copied past the caches), more than most caches
  for (size_t num_bytes : {size_t{1}, size_t{64}, size_t{4097}, (size_t{1} << 20) + 63, (size_t{24} << 20) + 13}) {
    const std::optional<double> rate = copy_rate(num_bytes, used, kShort, kCap);
    ASSERT_TRUE(rate.has_value()) << num_bytes;
    EXPECT_TRUE(std::isfinite(*rate)) << num_bytes;
    EXPECT_GT(*rate, 0) << num_bytes;
  }
  EXPECT_EQ(usable_cores(), cores);
}

TEST(CopyRate, copies_for_as_long_as_it_was_told_and_at_least_once) {
  const std::vector<int> cores = usable_cores();
  EXPECT_TRUE(copy_rate(1000, {cores[0]}, 0, kCap).has_value());
  const int64_t start_ns = now_ns();
  EXPECT_TRUE(copy_rate(1000, {cores[0]}, 0.02, kCap).has_value());
  EXPECT_GE(now_ns() - start_ns, 20'000'000);
}

TEST(CopyRate, finds_nothing_where_a_core_does_not_exist) {
  const std::vector<int> cores = usable_cores();
  EXPECT_EQ(copy_rate(1000, {kImpossibleCore}, kShort, kCap), std::nullopt);
  EXPECT_EQ(copy_rate(1000, {cores[0], kImpossibleCore}, kShort, kCap), std::nullopt);
  EXPECT_EQ(copy_rate(1000, {-1, cores[0]}, kShort, kCap), std::nullopt);
}

TEST(CopyRate, takes_two_buffers_a_core_and_no_more_than_the_cap) {
  const std::vector<int> cores = usable_cores();
  EXPECT_EQ(copy_rate_memory(1000, 3), 6000u);
  EXPECT_EQ(copy_rate_memory(SIZE_MAX / 2, 2), SIZE_MAX);
  EXPECT_TRUE(copy_rate(1000, {cores[0]}, 0, 2000).has_value());
  EXPECT_THROW(copy_rate(1000, {cores[0]}, 0, 1999), UsageError);
  EXPECT_THROW(copy_rate(SIZE_MAX, {cores[0]}, 0, kCap), UsageError);
}

TEST(CopyRate, gives_up_when_its_patience_is_over) {
  const std::vector<int> cores = usable_cores();
  EXPECT_EQ(copy_rate(1000, {cores[0]}, 0, kCap, 0), std::nullopt) << "no time at all";
  EXPECT_TRUE(copy_rate(1000, {cores[0]}, 0, kCap, kPatient).has_value());
}

TEST(CopyProbe, writes_its_memory_once_for_all_measurements) {
  const auto num_faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  constexpr size_t kBytes = size_t{16} << 20;
  const long pages = static_cast<long>(2 * kBytes) / sysconf(_SC_PAGESIZE);
  CopyProbe probe(kBytes, {usable_cores()[0]}, kCap, kPatient);
  ASSERT_TRUE(probe.measure(kShort).has_value());
  const long before = num_faults();
  for (int turn = 0; turn < 4; ++turn) EXPECT_TRUE(probe.measure(kShort).has_value());
  EXPECT_LT(num_faults() - before, pages / 4) << "of " << pages << " pages";
}

TEST(CopyProbe, has_no_answer_of_an_earlier_measurement) {
  CopyProbe probe(1000, {kImpossibleCore}, kCap, kPatient);
  for (int turn = 0; turn < 2; ++turn) EXPECT_EQ(probe.measure(kShort), std::nullopt);
}

TEST(CopyRate, refuses_nonsense) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<int> cores = usable_cores();
  EXPECT_THROW(copy_rate(1000, {}, kShort, kCap), UsageError);
  EXPECT_THROW(copy_rate(1000, {cores[0], cores[0]}, kShort, kCap), UsageError);
  EXPECT_THROW(copy_rate(0, {cores[0]}, kShort, kCap), UsageError);
  for (double seconds : {-1.0, 61.0, kNan, kInfinity})
    EXPECT_THROW(copy_rate(1000, {cores[0]}, seconds, kCap), UsageError) << seconds;
  for (double patience_s : {-1.0, 61.0, kNan})
    EXPECT_THROW(copy_rate(1000, {cores[0]}, kShort, kCap, patience_s), UsageError) << patience_s;
}

}  // namespace
}  // namespace ringtree
