// The caller's mistakes: a UsageError on that rank that says what to do, and the communicator goes on as if nothing had
// happened. What ends a communicator: test_failures.cpp.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

struct Mistake {
  const char* name;
  std::function<void(Communicator&, Call&)> make;
  const char* text;
};

// Each is made from a right call: all_reduce of 100 float32 in place.
std::vector<Mistake> mistakes() {
  return {
      {"unknown algorithm", [](Communicator&, Call& call) { call.ask(by("rong")); },
       "unknown algorithm 'rong'; choose from: naive, ring, tree"},
      {"an algorithm that needs a switch that reduces", [](Communicator&, Call& call) { call.ask(by("nvls")); },
       "nvls needs a switch that reduces (NVLink SHARP), which the engine does not have: simulate it"},
      {"an algorithm that cannot do it",
       [](Communicator&, Call& call) {
         call.collective = Collective::broadcast;
         call.ask(by("two_shot"));
       },
       "cannot do broadcast"},
      {"undefined dtype and op",
       [](Communicator&, Call& call) {
         call.dtype = Dtype::kComplex64;
         call.count = 50;
         call.op = ReduceOp::min;
       },
       "min is not defined for complex64"},
      {"a dtype that cannot be reduced", [](Communicator&, Call& call) { call.dtype = Dtype::kFloat8E8m0fnu; },
       "can be moved but not reduced"},
      {"a root that is not a rank",
       [](Communicator& communicator, Call& call) {
         call.collective = Collective::broadcast;
         call.root = communicator.world_size();
       },
       "is not a rank of a world of 2"},
      {"a negative root",
       [](Communicator&, Call& call) {
         call.collective = Collective::reduce;
         call.root = -1;
       },
       "root -1"},
      {"a root where there is none", [](Communicator&, Call& call) { call.root = 1; }, "all_reduce has no root"},
      {"no input", [](Communicator&, Call& call) { call.input = nullptr; }, "needs an input"},
      {"no output", [](Communicator&, Call& call) { call.output = nullptr; }, "needs an output"},
      {"buffers that overlap in part",
       [](Communicator&, Call& call) {
         call.count = 50;
         call.output = static_cast<float*>(call.output) + 1;
       },
       "overlap but are not in place"},
      {"a gathered block at another block's place",
       [](Communicator& communicator, Call& call) {
         call.collective = Collective::all_gather;
         call.count = 50;
         call.input = static_cast<const float*>(call.input) + 50 * (1 - communicator.rank());
       },
       "overlap but are not in place"},
      {"a count beyond all memory", [](Communicator&, Call& call) { call.count = SIZE_MAX / 4; },
       "exceeds the address space"},
      {"an own schedule of another size",
       [](Communicator&, Call& call) { call.ask(own(make_schedule("ring", Collective::all_reduce, 3))); },
       "is all_reduce of 3 ranks"},
      {"an own schedule of another collective",
       [](Communicator&, Call& call) { call.ask(own(make_schedule("ring", Collective::broadcast, 2))); },
       "this call is all_reduce"},
  };
}

TEST(Usage, a_mistake_is_refused_here_and_the_communicator_stays_usable) {
  // Rank 0 makes each mistake; rank 1 makes none, so a sequence number that moved would be a mismatch.
  const auto outcomes = run_communicators(2, test_settings(), [&](Communicator& communicator) {
    for (const Mistake& mistake : mistakes()) {
      if (communicator.rank() == 0) {
        std::vector<float> data(100, 1.0f);
        Call arguments;
        arguments.count = data.size();
        arguments.input = arguments.output = data.data();
        arguments.algorithm = by("ring");
        mistake.make(communicator, arguments);
        const std::string outcome = outcome_of([&] { communicator.run(arguments); });
        EXPECT_TRUE(contains(outcome, "usage: ") && contains(outcome, mistake.text)) << mistake.name << ": " << outcome;
        EXPECT_EQ(data, std::vector<float>(100, 1.0f)) << mistake.name;
      }
      sum_of_ones(communicator, 100);
    }
  });
  expect_all_well(outcomes);
}

TEST(Usage, buffers_side_by_side_do_not_overlap) {
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    std::vector<float> data(200, 1.0f);
    Call arguments;
    arguments.count = 100;
    arguments.input = data.data();
    arguments.output = data.data() + 100;
    communicator.run(with(arguments, by("ring")));
    if (data[99] != 1.0f || data[100] != 2.0f || data[199] != 2.0f) throw std::runtime_error("a wrong sum");
  }));
}

std::atomic<bool> rank_waits{false};

TEST(Usage, two_threads_at_once_are_refused_and_the_first_call_goes_on) {
  rank_waits = false;
  std::atomic<bool> was_refused{false};
  const auto outcomes = run_communicators(2, test_settings(), [&](Communicator& communicator) {
    if (communicator.rank() == 1) {
      was_refused.wait(false);
      return sum_of_ones(communicator, 100);
    }
    communicator.set_interrupt_check([] {  // asked while a call waits, so by then it is under way
      rank_waits.store(true);
      rank_waits.notify_all();
      return 0;
    });
    std::thread second([&] {
      rank_waits.wait(false);
      const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 100); });
      EXPECT_TRUE(contains(outcome, "usage: two threads")) << outcome;
      was_refused.store(true);
      was_refused.notify_all();
    });
    const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 100); });
    second.join();
    EXPECT_EQ(outcome, "");
  });
  expect_all_well(outcomes);
}

TEST(Usage, a_closed_communicator_says_so) {
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    sum_of_ones(communicator, 100);
    communicator.close();
    communicator.close();
    const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 100); });
    EXPECT_EQ(outcome, "usage: this communicator was closed; make a new one");
  }));
}

TEST(Usage, settings_that_cannot_be_are_refused) {
  const auto outcome_with = [](const std::function<void(Settings&)>& change) {
    Settings settings = test_settings();
    change(settings);
    ThreadStore store;
    return outcome_of([&] { Communicator(store, 0, 1, settings, built_in_table()); });
  };
  EXPECT_EQ(outcome_with([](Settings&) {}), "");
  EXPECT_TRUE(contains(outcome_with([](Settings& s) { s.timeout_s = 0; }), "usage: timeout"));
  EXPECT_TRUE(contains(outcome_with([](Settings& s) { s.num_channels = 0; }), "usage: channels"));
  EXPECT_TRUE(contains(outcome_with([](Settings& s) { s.emulation = Cluster{2, 8, 0.001, 1e6}; }), "does not fit"));
  EXPECT_TRUE(contains(outcome_with([](Settings& s) { s.emulation = Cluster{1, 1, -1, 1e6}; }), "usage: alpha"));
  EXPECT_TRUE(contains(outcome_with([](Settings& s) { s.emulation = Cluster{1, 1, 0, 0}; }), "usage: beta"));
}

}  // namespace
}  // namespace ringtree::testing
