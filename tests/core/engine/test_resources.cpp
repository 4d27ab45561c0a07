// What a communicator takes and gives back: descriptors after close(), also after a failure, nothing in /dev/shm,
// memory within its cap and not per call. Nothing of what calls compute.
#include <gtest/gtest.h>

#include <set>

#include "tests/core/engine/rank_threads.h"
#include "tests/core/engine/shared_memory_files.h"

namespace ringtree::testing {
namespace {

using Communicators = std::vector<std::unique_ptr<Communicator>>;

// Makes a communicator a rank and runs `body` on each; they live on, closed.
Communicators make_use_and_close(int num_ranks, const RankBody& body) {
  ThreadStore store;
  Communicators all(static_cast<size_t>(num_ranks));
  expect_all_well(run_ranks(num_ranks, [&](int rank) {
    auto& communicator = all[static_cast<size_t>(rank)];
    communicator = std::make_unique<Communicator>(store, rank, num_ranks, test_settings(2), built_in_table());
    body(*communicator);
    communicator->close();
  }));
  return all;
}

void use_several_algorithms(Communicator& communicator) {
  for (const char* algorithm : {"ring", "tree", "double_tree", "one_shot", "halving_doubling"})
    for (size_t count : {0, 100, 30'000}) sum_of_ones(communicator, count, algorithm);
}

// Until it is destroyed a closed communicator keeps one descriptor, the event that ended its mesh's thread.
void expect_descriptors_given_back(size_t before, Communicators all) {
  EXPECT_LE(num_open_descriptors(), before + all.size());
  all.clear();
  EXPECT_EQ(num_open_descriptors(), before);
}

TEST(Resources, close_gives_descriptors_back) {
  const size_t before = num_open_descriptors();
  size_t in_use = 0;
  Communicators all = make_use_and_close(4, [&](Communicator& communicator) {
    use_several_algorithms(communicator);
    if (communicator.rank() == 0) in_use = num_open_descriptors();
    sum_of_ones(communicator, 0);
  });
  EXPECT_GT(in_use, before + all.size()) << "else the count counts nothing";
  expect_descriptors_given_back(before, std::move(all));
}

TEST(Resources, close_gives_descriptors_back_after_a_failure) {
  const size_t before = num_open_descriptors();
  Communicators all = make_use_and_close(3, [](Communicator& communicator) {
    use_several_algorithms(communicator);
    const std::string outcome = outcome_of([&] { sum_of_ones(communicator, communicator.rank() == 1 ? 7 : 8); });
    if (!contains(outcome, "mismatch: ")) throw std::runtime_error("no mismatch but: " + outcome);
  });
  expect_descriptors_given_back(before, std::move(all));
}

TEST(Resources, a_communicator_that_could_not_be_made_gives_all_back) {
  const size_t before = num_open_descriptors();
  const auto outcomes =
      run_communicators(3, [](int rank) { return test_settings(rank == 2 ? 2 : 1); }, [](Communicator&) {});
  for (const std::string& outcome : outcomes) EXPECT_TRUE(contains(outcome, "mismatch: ")) << outcome;
  EXPECT_EQ(num_open_descriptors(), before);
}

TEST(Resources, nothing_has_a_name_in_dev_shm) {
  const auto before = shared_memory_files();
  std::set<std::string> during;
  make_use_and_close(2, [&](Communicator& communicator) {
    use_several_algorithms(communicator);
    if (communicator.rank() == 0) during = shared_memory_files();
    sum_of_ones(communicator, 0);
  });
  EXPECT_EQ(during, before);
  EXPECT_EQ(shared_memory_files(), before);
}

TEST(Resources, shared_memory_is_made_once_for_plans_that_share_links) {
  expect_all_well(run_communicators(3, test_settings(), [](Communicator& communicator) {
    if (communicator.shared_bytes() != 0) throw std::runtime_error("links before the first call");
    sum_of_ones(communicator, 100, "ring");
    const size_t after_ring = communicator.shared_bytes();
    for (size_t count : {1, 1000, 300'000}) sum_of_ones(communicator, count, "ring");
    if (communicator.shared_bytes() != after_ring) throw std::runtime_error("a size made links");
    // The other rings send over the very same links.
    std::vector<float> block(10), all(30);
    Call arguments;
    arguments.collective = Collective::all_gather;
    arguments.count = 10;
    arguments.input = block.data();
    arguments.output = all.data();
    communicator.run(with(arguments, by("ring")));
    if (communicator.shared_bytes() != after_ring) throw std::runtime_error("the ring's links were not used again");
    // Eight slots, eight lines, a reader, and rounding up to pages.
    const size_t least = kSlots * (kSlotBytes + sizeof(Line));
    if (after_ring < least || after_ring > least + 8192)
      throw std::runtime_error("a ring's one outgoing link takes " + std::to_string(after_ring) + " bytes");
  }));
}

}  // namespace
}  // namespace ringtree::testing
