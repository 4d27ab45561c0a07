// What each collective takes and gives: right results pass on every rank, whichever way it can be wrong is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tools/bench/drivers/driver_collective.h"

namespace {

constexpr DriverData kData = {7, 3, 2};
constexpr int kSize = 3;
constexpr size_t kBlock = 400;  // elements
constexpr size_t kWhole = kSize * kBlock;
constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
constexpr DriverCollective kAll[] = {kAllReduce, kReduceScatter, kAllGather, kBroadcast, kAllToAll};

// Buffers of all ranks, filled as a driver fills them, and what a library that is right makes of them.
struct World {
  World(DriverCollective collective, int root)
      : collective_(collective), root_(root), shape(driver_shape(collective, kSize, kWhole * sizeof(float))) {
    for (int rank = 0; rank < kSize; ++rank) {
      inputs.emplace_back(shape.input, kNothing);
      driver_fill_input(role(rank), kData, shape, inputs.back().data());
      outputs.emplace_back(shape.output, kNothing);
    }
    run();
  }

  DriverRole role(int rank) const { return {collective_, rank, kSize, root_}; }
  size_t wrong(int rank) const {
    return driver_count_wrong_output(role(rank), kData, shape, outputs[static_cast<size_t>(rank)].data());
  }
  std::vector<size_t> wrong() const {
    std::vector<size_t> of_ranks;
    for (int rank = 0; rank < kSize; ++rank) of_ranks.push_back(wrong(rank));
    return of_ranks;
  }

 private:
  // What the collective is defined to do, from the inputs alone.
  void run() {
    std::vector<float> sums(shape.input, 0.0F);
    for (const std::vector<float>& input : inputs)
      for (size_t i = 0; i < shape.input; ++i) sums[i] += input[i];
    for (size_t rank = 0; rank < kSize; ++rank) {
      std::vector<float>& output = outputs[rank];
      if (collective_ == kAllReduce) output = sums;
      if (collective_ == kReduceScatter) std::copy_n(sums.begin() + offset(rank), kBlock, output.begin());
      if (collective_ == kBroadcast) output = inputs[static_cast<size_t>(root_)];
      for (size_t from = 0; from < kSize; ++from) {
        if (collective_ == kAllGather) std::copy_n(inputs[from].begin(), kBlock, output.begin() + offset(from));
        if (collective_ == kAllToAll)
          std::copy_n(inputs[from].begin() + offset(rank), kBlock, output.begin() + offset(from));
      }
    }
  }
  static std::ptrdiff_t offset(size_t block) { return static_cast<std::ptrdiff_t>(block * kBlock); }

  DriverCollective collective_;
  int root_;

 public:
  DriverShape shape;
  std::vector<std::vector<float>> inputs, outputs;
};

TEST(DriverCollective, EveryNameIsFoundAndNoOther) {
  std::string names;
  for (const DriverCollective collective : kAll) {
    const std::string all = driver_collective_names();
    const size_t end = all.find(',', names.size() + 2);
    const size_t begin = names.empty() ? 0 : names.size() + 2;
    const std::string name = all.substr(begin, end == std::string::npos ? end : end - begin);
    DriverCollective found = kNumCollectives;
    EXPECT_TRUE(driver_find_collective(name.c_str(), &found)) << name;
    EXPECT_EQ(found, collective);
    names += (names.empty() ? "" : ", ") + name;
  }
  EXPECT_EQ(names, driver_collective_names());
  DriverCollective found;
  for (const char* name : {"", "allreduce", "all_reduce ", "reduce", "ALL_REDUCE"})
    EXPECT_FALSE(driver_find_collective(name, &found)) << name;
}

TEST(DriverCollective, SizesAreThoseOfTheLargerBuffer) {
  const auto lengths = [](DriverCollective collective, int size, size_t bytes) {
    const DriverShape shape = driver_shape(collective, size, bytes);
    return std::vector<size_t>{shape.count, shape.input, shape.output};
  };
  using Lengths = std::vector<size_t>;
  EXPECT_EQ(lengths(kAllReduce, 4, 4096), (Lengths{1024, 1024, 1024}));
  EXPECT_EQ(lengths(kBroadcast, 4, 4096), (Lengths{1024, 1024, 1024}));
  EXPECT_EQ(lengths(kReduceScatter, 4, 4096), (Lengths{256, 1024, 256}));
  EXPECT_EQ(lengths(kAllGather, 4, 4096), (Lengths{256, 256, 1024}));
  EXPECT_EQ(lengths(kAllToAll, 4, 4096), (Lengths{256, 1024, 1024}));
  EXPECT_EQ(lengths(kAllReduce, 4, 1003), (Lengths{250, 250, 250}));
  EXPECT_EQ(lengths(kAllGather, 4, 1003), (Lengths{62, 62, 248}));
  EXPECT_EQ(lengths(kAllReduce, 4, 0), (Lengths{1, 1, 1}));
  EXPECT_EQ(lengths(kAllToAll, 4, 12), (Lengths{1, 4, 4}));
}

TEST(DriverCollective, OnlyABroadcastIsInPlaceAndHasRoots) {
  for (const DriverCollective collective : kAll) {
    EXPECT_EQ(driver_shape(collective, 4, 64).in_place, collective == kBroadcast);
    EXPECT_EQ(driver_num_roots(collective, 4), collective == kBroadcast ? 4 : 1);
  }
}

TEST(DriverCollective, RightResultsPassOnEveryRank) {
  for (const DriverCollective collective : kAll)
    for (int root = 0; root < driver_num_roots(collective, kSize); ++root)
      EXPECT_EQ(World(collective, root).wrong(), (std::vector<size_t>{0, 0, 0})) << collective;
}

TEST(DriverCollective, InputsAreWhatTheRanksHold) {
  for (const DriverCollective collective : kAll) {
    const World world(collective, 0);
    for (int rank = 0; rank < kSize; ++rank)
      for (const size_t i : {size_t{0}, size_t{1}, world.shape.input - 1}) {
        const float found = world.inputs[static_cast<size_t>(rank)][i];
        if (collective == kBroadcast && rank != 0) {
          EXPECT_NE(found, found) << "what gives nothing is left as it is";
        } else {
          EXPECT_EQ(found, static_cast<float>(driver_element(kData, rank, i))) << collective;
        }
      }
  }
}

TEST(DriverCollective, EachElementOfAnOutputCounts) {
  for (const DriverCollective collective : kAll)
    for (int rank = 0; rank < kSize; ++rank) {
      World world(collective, 0);
      std::vector<float>& output = world.outputs[static_cast<size_t>(rank)];
      for (const size_t i : {size_t{0}, world.shape.count - 1, world.shape.output / 2, world.shape.output - 1}) {
        const float right = output[i];
        output[i] += 1;
        EXPECT_EQ(world.wrong(rank), 1u) << collective << " " << i;
        output[i] = right;
      }
      output.assign(world.shape.output, kNothing);
      EXPECT_EQ(world.wrong(rank), world.shape.output) << collective;
    }
}

TEST(DriverCollective, AnotherRanksResultIsWrongWhereResultsDiffer) {
  for (const DriverCollective collective : {kReduceScatter, kAllToAll}) {
    World world(collective, 0);
    std::swap(world.outputs[0], world.outputs[1]);
    EXPECT_GT(world.wrong(0), world.shape.output * 99 / 100);
    EXPECT_GT(world.wrong(1), world.shape.output * 99 / 100);
    EXPECT_EQ(world.wrong(2), 0u);
  }
}

TEST(DriverCollective, BlocksInEachOthersPlaceAreWrong) {
  for (const DriverCollective collective : {kAllGather, kAllToAll})
    for (int rank = 0; rank < kSize; ++rank) {
      World world(collective, 0);
      std::vector<float>& output = world.outputs[static_cast<size_t>(rank)];
      std::swap_ranges(output.begin(), output.begin() + kBlock, output.begin() + kBlock);
      EXPECT_GT(world.wrong(rank), 2 * kBlock * 99 / 100);
    }
}

TEST(DriverCollective, AnotherRootsDataIsWrongEverywhere) {
  World world(kBroadcast, 1);
  world.outputs = World(kBroadcast, 2).outputs;
  for (int rank = 0; rank < kSize; ++rank) EXPECT_GT(world.wrong(rank), kWhole * 99 / 100);
}

}  // namespace
