// What is written is the rank's pattern from the number's place on; every element that differs from what is due is
// counted.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/workers/patterns.h"

namespace {

using namespace ringtree::workers::testing;

constexpr int kSize = 3;

// More than a period, and no multiple of it.
constexpr size_t kCount = 2 * kPeriod + 5;

TEST(WorkerData, WritesThePatternFromTheNumbersPlaceOnAtAnyAlignment) {
  const PatternFile file(kSize, true);
  const Loaded loaded(file, 1, kSize);
  for (const uint64_t number : {uint64_t{0}, uint64_t{1}, uint64_t{12345678901}})
    for (const size_t offset : {size_t{0}, size_t{3}}) {
      std::vector<char> memory(kCount * sizeof(float) + offset);
      worker_data_write(&loaded.data, number, memory.data() + offset, kCount);
      for (size_t i = 0; i < kCount; ++i) {
        float found;
        std::memcpy(&found, memory.data() + offset + i * sizeof(float), sizeof found);
        ASSERT_EQ(found, file.element(1, number, i)) << number << " " << i;
      }
    }
}

TEST(WorkerData, CountsEachElementThatIsNotDue) {
  const PatternFile file(kSize, true);
  const Loaded loaded(file, 0, kSize);
  std::vector<float> found(kCount);
  for (size_t i = 0; i < kCount; ++i) found[i] = file.element(kSize, 9, i);
  EXPECT_EQ(worker_data_wrong(&loaded.data, 9, found.data(), kCount), 0u);
  for (const size_t i : {size_t{0}, kPeriod - 1, kPeriod, kCount - 1}) {
    const float right = found[i];
    found[i] += 1;
    EXPECT_EQ(worker_data_wrong(&loaded.data, 9, found.data(), kCount), 1u) << i;
    found[i] = right;
  }
  found.assign(kCount, 0.0F / 0.0F);
  EXPECT_EQ(worker_data_wrong(&loaded.data, 9, found.data(), kCount), kCount);
}

TEST(WorkerData, WhatAnEarlierCallLeftIsWrong) {
  const PatternFile file(kSize, false);
  const Loaded loaded(file, 0, kSize);
  std::vector<float> found(kCount);
  worker_data_write(&loaded.data, 4, found.data(), kCount);
  EXPECT_EQ(worker_data_wrong(&loaded.data, 4, found.data(), kCount), 0u);
  EXPECT_GT(worker_data_wrong(&loaded.data, 5, found.data(), kCount), kCount * 99 / 100);
}

TEST(WorkerData, AFileThatIsMissingOrTooShortIsSaid) {
  const PatternFile file(kSize, true);
  WorkerData data = {};
  EXPECT_STREQ(worker_data_load(&data, "/nowhere/patterns", 0, kSize, sizeof(float), kPeriod, kStep),
               "the file of the data cannot be read");
  EXPECT_STREQ(worker_data_load(&data, file.path().c_str(), 0, kSize + 1, sizeof(float), kPeriod, kStep),
               "the file of the data is too short");
  EXPECT_EQ(data.own, nullptr);
}

}  // namespace
