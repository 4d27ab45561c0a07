// The benchmark's check of results: exact ones pass, and every way of being wrong that we know of is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "tools/bench/drivers/driver_data.h"

namespace {

constexpr DriverData kData = {7, 3, 2};
constexpr size_t kCount = 2500;  // two whole blocks of the check and a part of one
constexpr int kSize = 3;
constexpr DriverSource kAllRanks = {0, kSize, 0};

std::vector<float> held_by(DriverData data, int rank, size_t count = kCount) {
  std::vector<float> elements(count);
  driver_fill(data, rank, elements.data(), count);
  return elements;
}

// What all_reduce must give, added in another order than the check adds.
std::vector<float> exact_sum(DriverData data, int size, size_t count = kCount) {
  std::vector<float> sum(count, 0.0F);
  for (int rank = size - 1; rank >= 0; --rank)
    for (size_t i = 0; i < count; ++i) sum[i] += static_cast<float>(driver_element(data, rank, i));
  return sum;
}

size_t wrong_in(const std::vector<float>& output) {
  return driver_count_wrong(kData, kAllRanks, output.data(), output.size());
}

TEST(DriverData, FillWritesTheElements) {
  const std::vector<float> filled = held_by(kData, 1);
  for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(filled[i], static_cast<float>(driver_element(kData, 1, i))) << i;
}

TEST(DriverData, ElementsAreWholeNumbersOfTwelveBits) {
  std::set<int> seen;
  for (size_t i = 0; i < 100000; ++i) seen.insert(driver_element(kData, 0, i));
  EXPECT_GE(*seen.begin(), -2048);
  EXPECT_LE(*seen.rbegin(), 2047);
  EXPECT_GT(seen.size(), 4000u);  // of 4096
}

TEST(DriverData, EveryCoordinateCounts) {
  const auto differing = [](DriverData other, int rank) {
    size_t count = 0;
    for (size_t i = 0; i < 1000; ++i) count += driver_element(kData, 0, i) != driver_element(other, rank, i);
    return count;
  };
  EXPECT_EQ(differing(kData, 0), 0u);
  EXPECT_GT(differing({8, 3, 2}, 0), 990u);
  EXPECT_GT(differing({7, 4, 2}, 0), 990u);
  EXPECT_GT(differing({7, 3, 1}, 0), 990u);
  EXPECT_GT(differing(kData, 1), 990u);
}

TEST(DriverData, IndexesBeyond32BitsAreOthers) {
  constexpr size_t kFar = size_t{1} << 32;
  size_t same = 0;
  for (size_t i = 0; i < 1000; ++i) same += driver_element(kData, 0, i) == driver_element(kData, 0, kFar + i);
  EXPECT_LT(same, 10u);
}

TEST(DriverData, ExactSumsPassAtEveryLength) {
  for (const size_t count : {size_t{1}, size_t{2}, size_t{1023}, size_t{1024}, size_t{1025}, kCount}) {
    const std::vector<float> sum = exact_sum(kData, kSize, count);
    EXPECT_EQ(driver_count_wrong(kData, kAllRanks, sum.data(), count), 0u) << count;
  }
}

TEST(DriverData, SumsOfTheMostRanksAreExact) {
  const std::vector<float> sum = exact_sum(kData, kDriverMaxRanks, 32);
  EXPECT_EQ(driver_count_wrong(kData, {0, kDriverMaxRanks, 0}, sum.data(), sum.size()), 0u);
}

TEST(DriverData, AnyAlignmentWillDo) {
  const std::vector<float> sum = exact_sum(kData, kSize);
  std::vector<char> memory(kCount * sizeof(float) + 64);
  for (size_t offset : {size_t{1}, size_t{4}, size_t{63}}) {
    std::memcpy(memory.data() + offset, sum.data(), kCount * sizeof(float));
    const float* moved = reinterpret_cast<const float*>(memory.data() + offset);  // NOLINT: read by memcpy alone
    EXPECT_EQ(driver_count_wrong(kData, kAllRanks, moved, kCount), 0u) << offset;
  }
}

TEST(DriverData, CountsEachWrongElementOnce) {
  for (const size_t index : {size_t{0}, size_t{1023}, size_t{1024}, kCount - 1}) {
    std::vector<float> sum = exact_sum(kData, kSize);
    sum[index] += 1;
    EXPECT_EQ(wrong_in(sum), 1u) << index;
    sum[(index + 7) % kCount] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(wrong_in(sum), 2u) << index;
  }
}

TEST(DriverData, TheSmallestDifferenceIsWrong) {
  std::vector<float> sum = exact_sum(kData, kSize);
  sum[5] = std::nextafter(sum[5], std::numeric_limits<float>::infinity());
  EXPECT_EQ(wrong_in(sum), 1u);
}

TEST(DriverData, NothingWrittenIsWrongEverywhere) {
  EXPECT_EQ(wrong_in(std::vector<float>(kCount, std::numeric_limits<float>::quiet_NaN())), kCount);
}

TEST(DriverData, AForgottenRankIsWrongNearlyEverywhere) {
  EXPECT_GT(wrong_in(exact_sum(kData, kSize - 1)), kCount * 99 / 100);
}

TEST(DriverData, ARankCountedTwiceIsWrongNearlyEverywhere) {
  std::vector<float> sum = exact_sum(kData, kSize);
  const std::vector<float> again = held_by(kData, 1);
  for (size_t i = 0; i < kCount; ++i) sum[i] += again[i];
  EXPECT_GT(wrong_in(sum), kCount * 99 / 100);
}

TEST(DriverData, TheBatchBeforeIsWrongNearlyEverywhere) {
  EXPECT_GT(wrong_in(exact_sum({kData.seed, kData.batch - 1, kData.pair}, kSize)), kCount * 99 / 100);
}

TEST(DriverData, BlocksInEachOthersPlaceAreWrong) {
  std::vector<float> sum = exact_sum(kData, kSize);
  std::swap_ranges(sum.begin(), sum.begin() + 256, sum.begin() + 1024);
  EXPECT_GT(wrong_in(sum), 2 * 256 * 98 / 100u);
}

// The numbers of some ranks from `start` on, summed one by one.
std::vector<float> exactly(DriverSource source, size_t count) {
  std::vector<float> elements(count, 0.0F);
  for (int rank = source.first_rank; rank < source.first_rank + source.num_ranks; ++rank)
    for (size_t i = 0; i < count; ++i) elements[i] += static_cast<float>(driver_element(kData, rank, source.start + i));
  return elements;
}

TEST(DriverData, ASourceMayBeginAnywhereAndHaveAnyRanks) {
  for (const size_t start : {size_t{0}, size_t{1}, size_t{1023}, size_t{1024}, size_t{4000}, (size_t{1} << 32) - 700})
    for (const DriverSource source :
         {DriverSource{0, 1, start}, DriverSource{2, 1, start}, DriverSource{1, 2, start}}) {
      const std::vector<float> right = exactly(source, kCount);
      EXPECT_EQ(driver_count_wrong(kData, source, right.data(), kCount), 0u) << start;
      const DriverSource later = {source.first_rank, source.num_ranks, start + 1};
      EXPECT_GT(driver_count_wrong(kData, later, right.data(), kCount), kCount * 99 / 100) << start;
      const DriverSource another = {source.first_rank + 1, source.num_ranks, start};
      EXPECT_GT(driver_count_wrong(kData, another, right.data(), kCount), kCount * 99 / 100) << start;
    }
}

}  // namespace
