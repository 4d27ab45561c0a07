// The explorer itself: it names each kind of fault, and its reductions lose nothing: on random small programs it finds
// exactly the outcomes that trying every interleaving finds. What C++ allows is test_litmus.cpp's.
#include <random>
#include <set>

#include "tests/models/explorer/policy.h"
#include "tests/models/programs/expect.h"

namespace ringtree::explorer {
namespace {

struct Shared {
  ExploredAtomic<uint32_t> flag{0};
  ExploredAtomic<uint32_t> word{0};
  ExploredPlain<uint32_t> data;
};

Result run(const std::vector<std::function<void(Shared&)>>& threads, const Options& options = {}) {
  return explore(
      [&](Program& program) {
        auto shared = std::make_shared<Shared>();
        program.name(&shared->flag, sizeof shared->flag, "flag");
        program.name(&shared->data, sizeof shared->data, "data");
        for (size_t i = 0; i < threads.size(); ++i)
          program.thread("t" + std::to_string(i), [shared, body = threads[i]] { body(*shared); });
      },
      options);
}

TEST(Explorer, names_both_accesses_of_a_race) {
  const Result result = run({[](Shared& s) { s.data = 1; }, [](Shared& s) { s.data = 2; }});
  expect_fault(result, Fault::race);
  EXPECT_NE(result.what.find("the write of data races with the write #1"), std::string::npos) << result.what;
}

TEST(Explorer, reads_do_not_race_and_a_write_after_a_read_does) {
  const auto write = [](Shared& s) { s.data = 1; };
  const auto read = [](Shared& s) { (void)static_cast<uint32_t>(s.data); };
  const auto make = [&](bool with_write) {
    return explore([=](Program& program) {
      auto shared = std::make_shared<Shared>();
      write(*shared);  // before the threads start
      program.thread("reader", [=] { read(*shared); });
      program.thread("other", [=] { with_write ? write(*shared) : read(*shared); });
    });
  };
  expect_right(make(false));
  expect_fault(make(true), Fault::race);
}

TEST(Explorer, notices_a_read_of_what_nobody_wrote) {
  expect_fault(run({[](Shared& s) { (void)static_cast<uint32_t>(s.data); }}), Fault::uninitialised);
}

TEST(Explorer, notices_a_wait_for_what_never_comes) {
  expect_fault(
      run({[](Shared& s) { wait_until([&] { return s.flag.load() == 2; }); }, [](Shared& s) { s.flag.store(1); }}),
      Fault::deadlock);
  expect_right(
      run({[](Shared& s) { wait_until([&] { return s.flag.load() == 1; }); }, [](Shared& s) { s.flag.store(1); }}));
}

TEST(Explorer, notices_a_sleep_without_a_wake) {
  const auto sleeper = [](Shared& s) { sleep_if(s.flag, 0); };
  expect_fault(run({sleeper, [](Shared& s) { s.flag.store(1); }}), Fault::deadlock);
  expect_fault(run({sleeper, [](Shared& s) { wake_all(s.flag); }}), Fault::deadlock);  // the word has not changed
  expect_right(run({sleeper, [](Shared& s) {
                      s.flag.store(1);
                      wake_all(s.flag);
                    }}));
}

TEST(Explorer, notices_a_loop_without_an_end) {
  expect_fault(run({[](Shared& s) {
                     while (s.flag.load() == 0) {
                     }
                   }},
                   {.max_steps = 100}),
               Fault::endless);
}

TEST(Explorer, notices_a_fruitless_round_that_stores) {
  expect_fault(run({[](Shared& s) {
                 wait_until([&] {
                   s.word.store(1);
                   return s.flag.load() == 1;
                 });
               }}),
               Fault::program);
}

TEST(Explorer, notices_a_program_that_does_not_repeat_itself) {
  int executions = 0;
  const auto load_one_or_the_other = [&executions](Shared& s) {
    (void)(executions++ % 2 == 0 ? s.flag : s.word).load();
    (void)s.flag.load();
  };
  expect_fault(run({load_one_or_the_other, [](Shared& s) { s.flag.store(1); }}), Fault::program);
}

TEST(Explorer, notices_a_thread_that_throws) {
  expect_fault(run({[](Shared&) { throw std::runtime_error("x"); }}), Fault::program);
}

TEST(Explorer, says_when_it_did_not_try_everything) {
  const auto add = [](Shared& s) { s.flag.fetch_add(1); };
  const Result result = run({add, add, add}, {.max_executions = 2});
  EXPECT_EQ(result.fault, Fault::none);
  EXPECT_FALSE(result.is_exhaustive);
}

// --- the reductions

/// One operation of a random program.
struct Step {
  enum Kind : uint8_t { load, store, add, swap_if, fence, fence_all } kind;
  size_t location;
  std::memory_order order;
};

constexpr size_t kLocations = 2;

Step random_step(std::mt19937& random, bool fences_others) {
  constexpr std::array loads = {std::memory_order_relaxed, std::memory_order_acquire, std::memory_order_seq_cst};
  constexpr std::array stores = {std::memory_order_relaxed, std::memory_order_release, std::memory_order_seq_cst};
  constexpr std::array updates = {std::memory_order_relaxed, std::memory_order_acq_rel, std::memory_order_seq_cst};
  constexpr std::array fences = {std::memory_order_acquire, std::memory_order_release, std::memory_order_seq_cst};
  const size_t which = random() % 3, location = random() % kLocations;
  switch (random() % 8) {
    case 0:
    case 1:
    case 2:
      return {Step::load, location, loads[which]};
    case 3:
    case 4:
      return {Step::store, location, stores[which]};
    case 5:
      return {Step::add, location, updates[which]};
    case 6:
      return {Step::swap_if, location, updates[which]};
    default:
      return {fences_others && which == 2 ? Step::fence_all : Step::fence, location, fences[which]};
  }
}

/// Every outcome: what each load returned, and each location's last value.
std::set<std::string> outcomes(const std::vector<std::vector<Step>>& threads, const Options& options) {
  struct State {
    std::array<ExploredAtomic<uint32_t>, kLocations> locations;
    std::array<std::string, kMaxThreads> seen;
  };
  std::set<std::string> found;
  const auto play = [&threads](State& state, size_t thread) {
    uint32_t value = 10 * (static_cast<uint32_t>(thread) + 1);  // no two stores store the same
    for (const Step& step : threads[thread]) {
      auto& location = state.locations[step.location];
      uint32_t read = 0;
      ++value;
      switch (step.kind) {
        case Step::load:
          read = location.load(step.order);
          break;
        case Step::store:
          location.store(value, step.order);
          break;
        case Step::add:
          read = location.fetch_add(100, step.order);
          break;
        case Step::swap_if:
          location.compare_exchange_strong(read, value, step.order, std::memory_order_relaxed);
          break;
        case Step::fence:
          fence(step.order);
          break;
        case Step::fence_all:
          fence_everybody();
          break;
      }
      state.seen[thread] += std::to_string(read) + ',';
    }
  };
  const Result result = explore(
      [&](Program& program) {
        auto state = std::make_shared<State>();
        for (size_t i = 0; i < threads.size(); ++i)
          program.thread("t" + std::to_string(i), [state, i, &play] { play(*state, i); });
        program.at_end([state, &found] {
          std::string outcome;
          for (const std::string& seen : state->seen) outcome += seen + ';';
          for (auto& location : state->locations) outcome += std::to_string(location.load()) + ' ';
          found.insert(outcome);
        });
      },
      options);
  expect_right(result);
  return found;
}

void compare_with_every_interleaving(uint32_t seeds, size_t num_threads, size_t num_steps, bool fences_others) {
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::vector<Step>> threads(num_threads);
    for (auto& thread : threads)
      for (size_t i = 0; i < num_steps; ++i) thread.push_back(random_step(random, fences_others));
    const Options reduced{.fences_others = fences_others};
    const Options full{.fences_others = fences_others, .without_reduction = true};
    ASSERT_EQ(outcomes(threads, reduced), outcomes(threads, full)) << "seed " << seed;
  }
}

TEST(Explorer, loses_no_outcome_of_two_threads) { compare_with_every_interleaving(400, 2, 4, false); }
TEST(Explorer, loses_no_outcome_of_three_threads) { compare_with_every_interleaving(40, 3, 3, false); }
TEST(Explorer, loses_no_outcome_where_threads_fence_each_other) { compare_with_every_interleaving(200, 2, 3, true); }

}  // namespace
}  // namespace ringtree::explorer
