// What each collective takes and gives: right results pass on every rank, whichever way it can be wrong is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/workers/patterns.h"
#include "workers/worker_collective.h"

namespace {

using ringtree::workers::testing::Loaded;
using ringtree::workers::testing::PatternFile;

constexpr int kSize = 3;
constexpr size_t kBlock = 400;  // elements
constexpr size_t kWhole = kSize * kBlock;
constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
constexpr uint64_t kCall = 5;
constexpr WorkerCollective kAll[] = {kAllReduce, kReduceScatter, kAllGather, kBroadcast,
                                     kAllToAll,  kReduce,        kGather,    kScatter};

int num_roots(WorkerCollective collective) { return worker_is_rooted(collective) ? kSize : 1; }

// Ranks that nothing is due on.
bool gets_nothing(WorkerCollective collective, int rank, int root) {
  return (collective == kReduce || collective == kGather) && rank != root;
}

// Buffers of all ranks, filled as a worker fills them, and what a library that is right makes of them.
struct World {
  World(WorkerCollective collective, int root)
      : file(kSize, worker_reduces(collective)),
        collective_(collective),
        root_(root),
        shape(worker_shape(collective, kSize, kWhole * sizeof(float), sizeof(float))) {
    for (int rank = 0; rank < kSize; ++rank) {
      inputs.emplace_back(shape.input, kNothing);
      const Loaded loaded(file, rank, kSize);
      worker_write_input(role(rank), &loaded.data, shape, inputs.back().data());
      outputs.emplace_back(shape.output, kNothing);
    }
    run();
  }

  WorkerRole role(int rank) const { return {collective_, rank, kSize, root_, kCall}; }
  size_t wrong(int rank) const {
    const Loaded loaded(file, rank, kSize);
    return worker_wrong_output(role(rank), &loaded.data, shape, outputs[static_cast<size_t>(rank)].data());
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
      const std::vector<float>& given = inputs[static_cast<size_t>(root_)];
      if (collective_ == kAllReduce || collective_ == kReduce) output = sums;
      if (collective_ == kScatter) std::copy_n(given.begin() + offset(rank), kBlock, output.begin());
      if (collective_ == kReduceScatter) std::copy_n(sums.begin() + offset(rank), kBlock, output.begin());
      if (collective_ == kBroadcast) output = given;
      for (size_t from = 0; from < kSize; ++from) {
        if (collective_ == kAllGather || collective_ == kGather)
          std::copy_n(inputs[from].begin(), kBlock, output.begin() + offset(from));
        if (collective_ == kAllToAll)
          std::copy_n(inputs[from].begin() + offset(rank), kBlock, output.begin() + offset(from));
      }
    }
  }
  static std::ptrdiff_t offset(size_t block) { return static_cast<std::ptrdiff_t>(block * kBlock); }

  PatternFile file;
  WorkerCollective collective_;
  int root_;

 public:
  WorkerShape shape;
  std::vector<std::vector<float>> inputs, outputs;
};

TEST(WorkerCollective, EveryNameIsFoundAndNoOther) {
  std::string names;
  for (const WorkerCollective collective : kAll) {
    const std::string all = worker_collective_names();
    const size_t end = all.find(',', names.size() + 2);
    const size_t begin = names.empty() ? 0 : names.size() + 2;
    const std::string name = all.substr(begin, end == std::string::npos ? end : end - begin);
    WorkerCollective found = kNumCollectives;
    EXPECT_TRUE(worker_find_collective(name.c_str(), &found)) << name;
    EXPECT_EQ(found, collective);
    names += (names.empty() ? "" : ", ") + name;
  }
  EXPECT_EQ(names, worker_collective_names());
  WorkerCollective found;
  for (const char* name : {"", "allreduce", "all_reduce ", "scan", "ALL_REDUCE"})
    EXPECT_FALSE(worker_find_collective(name, &found)) << name;
}

TEST(WorkerCollective, SizesAreThoseOfTheLargerBuffer) {
  const auto lengths = [](WorkerCollective collective, int size, size_t bytes) {
    const WorkerShape shape = worker_shape(collective, size, bytes, sizeof(float));
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

TEST(WorkerCollective, RightResultsPassOnEveryRank) {
  for (const WorkerCollective collective : kAll)
    for (int root = 0; root < num_roots(collective); ++root)
      EXPECT_EQ(World(collective, root).wrong(), (std::vector<size_t>{0, 0, 0})) << collective;
}

TEST(WorkerCollective, WhoGivesNothingKeepsWhatIsThere) {
  for (const WorkerCollective collective : {kBroadcast, kScatter}) {
    const World world(collective, 1);
    for (const float found : world.inputs[0]) EXPECT_NE(found, found);
    for (const float found : world.inputs[1]) EXPECT_EQ(found, found);
  }
}

TEST(WorkerCollective, EachElementOfAnOutputCounts) {
  for (const WorkerCollective collective : kAll)
    for (int rank = 0; rank < kSize; ++rank) {
      if (gets_nothing(collective, rank, 0)) continue;
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

TEST(WorkerCollective, AnotherRanksResultIsWrongWhereResultsDiffer) {
  for (const WorkerCollective collective : {kReduceScatter, kAllToAll}) {
    World world(collective, 0);
    std::swap(world.outputs[0], world.outputs[1]);
    EXPECT_GT(world.wrong(0), world.shape.output * 99 / 100);
    EXPECT_GT(world.wrong(1), world.shape.output * 99 / 100);
    EXPECT_EQ(world.wrong(2), 0u);
  }
}

TEST(WorkerCollective, BlocksInEachOthersPlaceAreWrong) {
  for (const WorkerCollective collective : {kAllGather, kAllToAll})
    for (int rank = 0; rank < kSize; ++rank) {
      World world(collective, 0);
      std::vector<float>& output = world.outputs[static_cast<size_t>(rank)];
      std::swap_ranges(output.begin(), output.begin() + kBlock, output.begin() + kBlock);
      EXPECT_GT(world.wrong(rank), 2 * kBlock * 99 / 100);
    }
}

TEST(WorkerCollective, AnotherRootsDataIsWrongEverywhere) {
  World world(kBroadcast, 1);
  world.outputs = World(kBroadcast, 2).outputs;
  for (int rank = 0; rank < kSize; ++rank) EXPECT_GT(world.wrong(rank), kWhole * 99 / 100);
}

}  // namespace
