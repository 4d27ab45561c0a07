// Groups of calls: their order, several communicators at once, what becomes of the others when one fails, and waiting
// for them. The same through the C functions: tests/core/capi/test_groups.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/engine/group.h"
#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

constexpr size_t kBeyondSlots = kSanitized ? 20'000 : 200'000;  // of int64: more than the slots of a link hold

Call sum_in_place(std::vector<float>& data) {
  Call arguments;
  arguments.count = data.size();
  arguments.input = arguments.output = data.data();
  return arguments;
}

void require_true(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

TEST(Group, runs_transfers_first_at_once_and_collectives_in_order) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    const int rank = communicator.rank(), peer = 1 - rank;
    for (bool background : {false, true}) {
      std::vector<int64_t> sent(kBeyondSlots, rank), received(kBeyondSlots, -1);
      std::vector<float> data(100, 1.0f), more(50, 1.0f);
      Group group;
      // The ranks give transfers and collectives in different orders; only the collectives' own must be alike.
      if (rank == 0) group.add(communicator, Transfer{true, peer, Dtype::kInt64, kBeyondSlots, sent.data()});
      group.add(communicator, with(sum_in_place(data), by("ring")));
      group.add(communicator, Transfer{false, peer, Dtype::kInt64, kBeyondSlots, received.data()});
      group.add(communicator, sum_in_place(more));
      if (rank == 1) group.add(communicator, Transfer{true, peer, Dtype::kInt64, kBeyondSlots, sent.data()});
      if (background) {
        group.start().wait();
      } else {
        group.run();
      }
      require_true(group.empty(), "the group was not left empty");
      require_true(received == std::vector<int64_t>(kBeyondSlots, peer), "a wrong message");
      require_true(data == std::vector<float>(100, 2.0f) && more == std::vector<float>(50, 2.0f), "a wrong sum");
      require_true(communicator.last_call().description.count == 50, "another call was the last");
    }
    Group().run();  // of nothing
    require_true(Group().start().test(), "nothing is not done");
  }));
}

TEST(Group, runs_communicators_at_the_same_time) {
  ThreadStore store;
  expect_all_well(run_ranks(2, [&](int rank) {
    Communicator first(store, rank, 2, test_settings(), built_in_table(), "first");
    Communicator second(store, rank, 2, test_settings(), built_in_table(), "second");
    for (bool background : {false, true}) {
      std::vector<float> a(5'000, 1.0f), b(5'000, 2.0f);
      Group group;
      // In opposite orders: one after the other they would wait for each other for ever.
      if (rank == 0) group.add(first, sum_in_place(a));
      group.add(second, sum_in_place(b));
      if (rank == 1) group.add(first, sum_in_place(a));
      if (background) {
        group.start().wait();
      } else {
        group.run();
      }
      require_true(a[0] == 2.0f && b[0] == 4.0f, "a wrong sum");
    }
  }));
}

TEST(Group, copies_counts) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    const int rank = communicator.rank();
    for (bool background : {false, true}) {
      std::vector<float> input(rank == 0 ? 3 : 1, static_cast<float>(rank)), output(4);
      Group group;
      {
        std::vector<uint64_t> counts{3, 1};
        Call arguments;
        arguments.collective = Collective::all_gather;
        arguments.counts = counts;
        arguments.input = input.data();
        arguments.output = output.data();
        group.add(communicator, arguments);
        counts.assign(2, 1'000'000);
      }
      if (background) {
        group.start().wait();
      } else {
        group.run();
      }
      require_true(output == std::vector<float>({0, 0, 0, 1}), "wrong blocks");
    }
  }));
}

TEST(Group, runs_all_where_one_fails_and_tells_the_first_failure) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    for (bool background : {false, true}) {
      std::vector<float> data(10, 1.0f);
      Call no_input = sum_in_place(data), bad_root = no_input;
      no_input.input = nullptr;
      bad_root.root = 7;
      Group group;
      group.add(communicator, sum_in_place(data));
      group.add(communicator, no_input);
      group.add(communicator, bad_root);
      group.add(communicator, sum_in_place(data));
      const std::string outcome = outcome_of([&] { background ? group.start().wait() : group.run(); });
      require_true(contains(outcome, "usage: needs an input"), "another failure: " + outcome);
      require_true(data[0] == 4.0f, "not both of the right calls ran");
    }
  }));
}

TEST(Group, tells_of_calls_that_could_not_be_started) {
  expect_all_well(run_communicators(1, test_settings(), [](Communicator& communicator) {
    std::vector<float> data(10, 1.0f);
    communicator.close();
    Group group;
    group.add(communicator, sum_in_place(data));
    const GroupWork work = group.start();
    const std::string outcome = outcome_of([&] { work.wait(); });
    require_true(contains(outcome, "was closed") && work.test(), outcome);
  }));
}

TEST(Group, waits_as_long_as_it_is_told_and_goes_on) {
  std::atomic<bool> timed_out{false};
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    std::vector<float> data(10, 1.0f);
    if (communicator.rank() == 1)
      while (!timed_out.load()) std::this_thread::yield();
    Group group;
    group.add(communicator, sum_in_place(data));
    group.add(communicator, sum_in_place(data));
    const GroupWork work = group.start();
    if (communicator.rank() == 0) {
      const std::string outcome = outcome_of([&] { work.wait(0.01); });
      require_true(contains(outcome, "timeout: the group was not complete after 0.01 s"), outcome);
      require_true(!work.test(), "it is done without its peer");
      timed_out.store(true);
    }
    work.wait(60);
    require_true(work.test() && data[0] == 4.0f, "a wrong sum");
  }));
}

// A call whose own deadline passes is one that has ended: wait() tells it, not the end of its patience.
TEST(Group, tells_a_calls_own_timeout_as_such) {
  std::atomic<bool> ended{false};
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    if (communicator.rank() == 1) {
      while (!ended.load()) std::this_thread::yield();
      return;
    }
    std::vector<float> data(10, 1.0f);
    Call impatient = sum_in_place(data);
    impatient.timeout_s = 0.05;
    Group group;
    group.add(communicator, impatient);
    const GroupWork work = group.start();
    const std::string outcome = outcome_of([&] { work.wait(); });
    ended.store(true);
    require_true(work.test() && contains(outcome, "timeout: ") && !contains(outcome, "the group"), outcome);
  }));
}

std::atomic<bool> stop_asked{false};

TEST(Group, of_several_communicators_ends_all_of_them_when_interrupted) {
  stop_asked.store(false);
  ThreadStore store;
  std::atomic<int> num_ended{0}, num_made{0};
  std::atomic<bool> group_ended{false};
  expect_all_well(run_ranks(2, [&](int rank) {
    Communicator first(store, rank, 2, test_settings(), built_in_table(), "first");
    Communicator second(store, rank, 2, test_settings(), built_in_table(), "second");
    num_made.fetch_add(1);  // an abort would also end what is still being made
    while (num_made.load() < 2) std::this_thread::yield();
    std::vector<float> a(10, 1.0f), b(10, 1.0f);
    if (rank == 0) {  // its peer comes to neither call, and somebody presses Ctrl-C
      first.set_interrupt_check([] { return stop_asked.load() ? 1 : 0; });
      std::thread presser([] { stop_asked.store(true); });
      Group group;
      group.add(first, sum_in_place(a));
      group.add(second, sum_in_place(b));
      const std::string outcome = outcome_of([&] { group.run(); });
      presser.join();
      group_ended.store(true);
      require_true(contains(outcome, "interrupted while waiting"), outcome);
    }
    while (!group_ended.load()) std::this_thread::yield();
    for (Communicator* communicator : {&first, &second}) {
      std::string outcome;
      while (outcome.empty()) outcome = outcome_of([&] { sum_of_ones(*communicator, 10); });
      require_true(contains(outcome, "rank 0 (pid"), outcome);
    }
    num_ended.fetch_add(1);
    while (num_ended.load() < 2) std::this_thread::yield();
  }));
}

}  // namespace
}  // namespace ringtree::testing
