// How a worker comes up: its options, its rank, its core.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "workers/worker.h"

namespace {

// worker_option() on words of a command line; `index` as it leaves it.
int parse(std::vector<std::string> words, WorkerOptions& options, int& index) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  index = 0;
  const int known = worker_option(static_cast<int>(argv.size()), argv.data(), &index, &options);
  options.socket_path = nullptr;  // it pointed into `words`
  return known;
}

TEST(WorkerStart, ReadsItsOptions) {
  WorkerOptions options = {};
  int index = 0;
  EXPECT_EQ(parse({"--pin", "0,3,12"}, options, index), 1);
  EXPECT_EQ(index, 2);
  EXPECT_EQ(std::vector<int>(options.cores, options.cores + options.num_cores), (std::vector<int>{0, 3, 12}));
  EXPECT_EQ(parse({"--socket", "/tmp/s"}, options, index), 1);
  EXPECT_EQ(parse({"--other", "1"}, options, index), 0);
  EXPECT_EQ(index, 0);
}

TEST(WorkerStart, RefusesWhatIsNoListOfCores) {
  for (const char* list : {"", "x", "0,", ",0", "0,,1", "0 1", "-1", "0-3", "99999999"}) {
    WorkerOptions options = {};
    int index = 0;
    EXPECT_EQ(parse({"--pin", list}, options, index), -1) << list;
  }
  WorkerOptions options = {};
  int index = 0;
  EXPECT_EQ(parse({"--pin"}, options, index), -1);
}

TEST(WorkerStart, KnowsItsRankFromAnyLauncher) {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "RANK"}) unsetenv(variable);
  EXPECT_EQ(worker_environment_rank(), -1);
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "RANK"}) {
    setenv(variable, "3", 1);
    EXPECT_EQ(worker_environment_rank(), 3) << variable;
    setenv(variable, "3x", 1);
    EXPECT_EQ(worker_environment_rank(), -1) << variable;
    unsetenv(variable);
  }
}

// On threads of their own, so that the test's own cores stay as they are.
TEST(WorkerStart, PinsToTheRanksCore) {
  std::thread([] {
    cpu_set_t usable;
    ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
    int core = 0;
    while (!CPU_ISSET(core, &usable)) ++core;
    WorkerOptions options = {};
    options.cores[0] = kMaxCores - 1;  // nobody has it
    options.cores[1] = core;
    options.num_cores = 2;
    ASSERT_EQ(worker_pin(&options, 3), 0);  // rank 3 of 2 cores: the second
    char text[16];
    worker_cores_text(text, sizeof text);
    EXPECT_EQ(text, std::to_string(core));
    EXPECT_NE(worker_pin(&options, 2), 0);
  }).join();
}

TEST(WorkerStart, LeavesTheCoresAloneWithoutAList) {
  std::thread([] {
    char before[kMaxText], after[kMaxText];
    const WorkerOptions options = {};
    worker_cores_text(before, sizeof before);
    ASSERT_EQ(worker_pin(&options, 0), 0);
    worker_cores_text(after, sizeof after);
    EXPECT_STREQ(before, after);
    EXPECT_STRNE(before, "");
  }).join();
}

}  // namespace
