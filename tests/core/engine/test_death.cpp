// Ranks as processes that are killed in mid-collective: every survivor must say within a second who died, in which
// call. Prints how long it took. And what else only processes can show: no descriptors left, a fork of a rank. The
// parent has no threads when it forks. Ranks as threads are in the other files of this folder.
#include <sys/resource.h>
#include <unistd.h>

#include <numeric>

#include "core/bootstrap/unix_store.h"
#include "tests/core/bootstrap/child_process.h"
#include "tests/core/bootstrap/waits_for_cores.h"
#include "tests/core/engine/rank_threads.h"
#include "tests/core/engine/shared_memory_files.h"

namespace ringtree::testing {
namespace {

using Pipe = ChildProcess::Pipe;

// A job of `num_ranks` processes that all have their communicator; then each runs `body`.
std::vector<ChildProcess> start_job(int num_ranks, const std::function<void(Communicator&, const Pipe&)>& body,
                                    Cores cores = Cores::all) {
  const std::string id = unique_id();
  std::vector<ChildProcess> ranks;
  for (int rank = 0; rank < num_ranks; ++rank)
    ranks.emplace_back([=](const Pipe& pipe) {
      stay_on(cores);
      UnixStore store(id, rank, patience());
      Communicator communicator(store, rank, num_ranks, test_settings(), built_in_table());
      body(communicator, pipe);
      return 0;
    });
  return ranks;
}

constexpr uint64_t kFirstCallToDieIn = kSanitized ? 5 : 20;
constexpr size_t kCount = kSanitized ? 70'000 : 262'144;  // of float32: 1 MB

// Calls until a call fails, and returns why. Says when it is about to make the call in which it may be killed, and goes
// on calling.
std::string first_failure(Communicator& communicator, const Pipe& pipe, const std::string& algorithm, int victim) {
  std::vector<float> data(kCount, 1.0f);
  Call arguments;
  arguments.count = data.size();
  arguments.input = arguments.output = data.data();
  arguments.op = ReduceOp::max;
  std::string outcome;
  for (uint64_t call = 1; outcome.empty(); ++call) {
    if (communicator.rank() == victim && call == kFirstCallToDieIn) pipe.say("in call");
    outcome = outcome_of([&] { communicator.run(with(arguments, by(algorithm))); });
  }
  return outcome;
}

// Reports the first failure with its time, then stays alive, so that its own end is not what others notice.
void call_until_failure(Communicator& communicator, const Pipe& pipe, const std::string& algorithm, int victim) {
  const std::string outcome = first_failure(communicator, pipe, algorithm, victim);
  pipe.say(std::to_string(now_ns()) + " " + outcome);
  pipe.hear();
}

class Death : public ::testing::TestWithParam<std::tuple<int, const char*>> {};

TEST_P(Death, in_mid_collective_is_reported_by_every_survivor_within_a_second) {
  const auto [n, algorithm] = GetParam();
  for (const int victim : {0, n - 1}) {
    const std::string name = algorithm;
    const auto files_before = shared_memory_files();
    auto ranks = start_job(n, [name, victim](Communicator& communicator, const Pipe& pipe) {
      call_until_failure(communicator, pipe, name, victim);
    });
    ASSERT_EQ(ranks[static_cast<size_t>(victim)].pipe().hear(), "in call");
    const WaitsForCores waits(ranks);
    const int64_t killed_ns = now_ns();
    ranks[static_cast<size_t>(victim)].kill_now();
    int64_t slowest_ns = 0;
    const std::string expected = " peer: rank " + std::to_string(victim) + " (pid " +
                                 std::to_string(ranks[static_cast<size_t>(victim)].pid()) +
                                 ") died before it completed all_reduce #";
    for (int rank = 0; rank < n; ++rank) {
      if (rank == victim) continue;
      const std::string line = ranks[static_cast<size_t>(rank)].pipe().hear();
      const size_t place = line.find(expected);  // after the time; the sequence number follows
      ASSERT_NE(place, std::string::npos) << "rank " << rank << ": " << line;
      EXPECT_GE(std::stoull(line.substr(place + expected.size())), kFirstCallToDieIn) << line;
      const int64_t took_ns = std::stoll(line) - killed_ns;
      EXPECT_LT(took_ns - waits.of({rank, victim}), 1'000'000'000) << line;
      slowest_ns = std::max(slowest_ns, took_ns);
    }
    std::printf("[ measured ] %s, rank %d of %d killed: slowest survivor raised after %.2f ms\n", algorithm, victim, n,
                static_cast<double>(slowest_ns) * 1e-6);
    EXPECT_EQ(shared_memory_files(), files_before);
  }
}

INSTANTIATE_TEST_SUITE_P(RanksAndAlgorithms, Death,
                         ::testing::Combine(::testing::Values(2, 3, 4),
                                            ::testing::Values("ring", "tree", "one_shot", "halving_doubling")));

// Rank 0 serves the store in which all met: its death must not matter either.
TEST_P(Death, is_survived_by_shrinking) {
  const auto [n, algorithm] = GetParam();
  if (n == 2) return;  // one survivor has nobody to agree with: test_parts.cpp
  for (const int victim : {0, n - 1}) {
    const std::string name = algorithm;
    auto ranks = start_job(n, [name, victim](Communicator& communicator, const Pipe& pipe) {
      first_failure(communicator, pipe, name, victim);
      const std::string outcome = outcome_of([&] {
        const auto part = communicator.shrink();
        if (part->world_size() != communicator.world_size() - 1) throw std::runtime_error("a wrong world size");
        sum_of_ones(*part, kCount, name);
        pipe.say(std::to_string(now_ns()));
        pipe.hear();
      });
      if (!outcome.empty()) pipe.say("failed: " + outcome);
    });
    ASSERT_EQ(ranks[static_cast<size_t>(victim)].pipe().hear(), "in call");
    const WaitsForCores waits(ranks);
    const int64_t killed_ns = now_ns();
    ranks[static_cast<size_t>(victim)].kill_now();
    int64_t slowest_ns = 0;
    std::vector<int> all(static_cast<size_t>(n));  // each waits for each
    std::iota(all.begin(), all.end(), 0);
    for (int rank = 0; rank < n; ++rank) {
      if (rank == victim) continue;
      const std::string line = ranks[static_cast<size_t>(rank)].pipe().hear();
      ASSERT_TRUE(!line.empty() && line.find("failed") == std::string::npos) << "rank " << rank << ": " << line;
      const int64_t took_ns = std::stoll(line) - killed_ns;
      EXPECT_LT(took_ns - waits.of(all), 2'000'000'000) << line;
      slowest_ns = std::max(slowest_ns, took_ns);
    }
    std::printf("[ measured ] %s, rank %d of %d killed: a right sum of the survivors after %.2f ms\n", algorithm,
                victim, n, static_cast<double>(slowest_ns) * 1e-6);
  }
}

TEST(Death, of_a_rank_that_others_do_not_talk_to_is_reported_too) {
  // In a chain the last rank has one neighbour; the first must hear of its death as well.
  auto ranks = start_job(
      4, [](Communicator& communicator, const Pipe& pipe) { call_until_failure(communicator, pipe, "chain", 3); });
  ASSERT_EQ(ranks[3].pipe().hear(), "in call");
  const WaitsForCores waits(ranks);
  const int64_t killed_ns = now_ns();
  ranks[3].kill_now();
  const std::string line = ranks[0].pipe().hear();
  EXPECT_TRUE(contains(line, "peer: rank 3 (pid " + std::to_string(ranks[3].pid()) + ") died")) << line;
  EXPECT_LT(std::stoll(line) - killed_ns - waits.of({0, 3}), 1'000'000'000) << line;
}

TEST(Death, a_rank_without_memory_for_its_links_says_so_on_every_rank) {
  auto ranks = start_job(2, [](Communicator& communicator, const Pipe& pipe) {
    pipe.say("up");
    pipe.hear();                     // both are up: else the other hears of it while it makes its communicator
    if (communicator.rank() == 1) {  // a limit on files counts for shared memory without a name, too
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{1024, 1024};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    pipe.say(outcome_of([&] { sum_of_ones(communicator, 100); }));
    pipe.hear();
  });
  for (const ChildProcess& rank : ranks) ASSERT_EQ(rank.pipe().hear(), "up");
  for (const ChildProcess& rank : ranks) rank.pipe().say("go");
  const std::string there = ranks[1].pipe().hear(), here = ranks[0].pipe().hear();
  EXPECT_TRUE(contains(there, "other: cannot reserve ")) << there;
  EXPECT_TRUE(contains(here, "other: rank 1 (pid " + std::to_string(ranks[1].pid()) + ") could not begin")) << here;
  EXPECT_TRUE(contains(here, "bytes of shared memory for links")) << here;
}

// A child that fork() made: its copies of the communicator are of no use and do no harm, whatever it does with them.
bool is_refused_and_harmless(Communicator& communicator) {
  const int child = ::fork();
  if (child == 0) {
    bool refused = true;
    for (int i = 0; i < 2; ++i)  // also after it was closed here
      for (const char* name : {"ring", "one_shot"}) {
        const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 100, name); });
        refused = refused && contains(outcome, "usage: this communicator was made before fork()");
        communicator.close();
      }
    ::_exit(refused ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

TEST(Death, a_fork_of_a_rank_is_refused_and_its_end_changes_nothing) {
  for (Cores cores : {Cores::all, Cores::one}) {
    auto ranks = start_job(
        2,
        [](Communicator& communicator, const Pipe& pipe) {
          sum_of_ones(communicator, 100);
          if (communicator.rank() == 1) pipe.say(is_refused_and_harmless(communicator) ? "refused" : "not refused");
          for (const ProtocolInfo& info : kProtocols)
            for (const char* name : {"ring", "one_shot"})  // links that exist, and new ones
              pipe.say(outcome_of([&] { sum_of_ones(communicator, 100'000, by(name, info.protocol)); }) + ".");
        },
        cores);
    EXPECT_EQ(ranks[1].pipe().hear(), "refused");
    for (const ChildProcess& rank : ranks)
      for (int i = 0; i < 2 * kNumProtocols; ++i) EXPECT_EQ(rank.pipe().hear(), ".");
  }
}

#if !defined(__SANITIZE_THREAD__)  // it knows no threads that a child of a process with threads starts
TEST(Death, a_fork_of_a_rank_may_make_a_communicator_of_its_own) {
  auto ranks = start_job(2, [](Communicator& communicator, const Pipe& pipe) {
    sum_of_ones(communicator, 100);
    const std::string id = unique_id();
    bool all_well = true;
    std::vector<int> children;
    for (int rank = 0; rank < 2; ++rank) {  // two children of each rank meet
      children.push_back(::fork());
      if (children.back() != 0) continue;
      const std::string outcome = outcome_of([&] {
        UnixStore store(id, rank, patience());
        Communicator fresh(store, rank, 2, test_settings(), built_in_table());
        for (size_t count : {1, 100'000}) sum_of_ones(fresh, count);
      });
      ::_exit(outcome.empty() ? 0 : 1);
    }
    for (const int child : children) {
      int status = 1;
      ::waitpid(child, &status, 0);
      all_well = all_well && status == 0;
    }
    pipe.say(all_well ? "all well" : "a child failed");
    pipe.say(outcome_of([&] { sum_of_ones(communicator, 100); }) + ".");
  });
  for (const ChildProcess& rank : ranks) {
    EXPECT_EQ(rank.pipe().hear(), "all well");
    EXPECT_EQ(rank.pipe().hear(), ".");
  }
}
#endif

}  // namespace
}  // namespace ringtree::testing
