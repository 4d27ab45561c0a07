// Calls in the background: their order, waiting for them, and how they end when the communicator does.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

Call summed_in_place(std::vector<float>& data) {
  Call arguments;
  arguments.count = data.size();
  arguments.input = arguments.output = data.data();
  return arguments;
}

TEST(Work, runs_in_the_order_in_which_it_was_started) {
  constexpr int kCalls = 30;
  expect_all_well(run_communicators(3, test_settings(), [](Communicator& communicator) {
    // Each call doubles or triples what the one before left: only one order gives this number.
    std::vector<float> data(1'000, 1.0f);
    std::vector<std::shared_ptr<Work>> works;
    for (int i = 0; i < 8; ++i) works.push_back(communicator.start(summed_in_place(data)));
    works.back()->wait();
    for (const auto& work : works)
      if (!work->test()) throw std::runtime_error("an earlier call was not done");
    if (data[999] != 6'561.0f) throw std::runtime_error("not 3^8: " + std::to_string(data[999]));
    // Started calls and others take turns.
    std::vector<float> other(kCalls, 1.0f);
    for (int i = 0; i < kCalls; ++i) {
      std::fill(data.begin(), data.end(), static_cast<float>(i));
      const auto work = communicator.start(summed_in_place(data));
      sum_of_ones(communicator, 100);
      if (!work->test()) throw std::runtime_error("a call overtook one that was started before it");
      work->wait();
      if (data[0] != 3.0f * static_cast<float>(i)) throw std::runtime_error("a wrong sum");
    }
  }));
}

// Whoever finds the queue idle makes the next call, after which what was started before is done; and whoever finds it
// done may close the communicator, which must be idle then. The watcher gets in the way of the call's end.
TEST(Work, is_done_when_its_queue_is_idle_and_the_other_way_round) {
  WorkQueue queue;
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> watched{false}, idle_when_done{false};
    const auto work = queue.add([&] {
      while (!watched.load()) std::this_thread::yield();
    });
    std::thread watcher([&] {
      while (!work->test()) {
        try {
          work->wait(1e-9);
        } catch (const TimeoutError&) {
          watched.store(true);
        }
      }
      idle_when_done.store(queue.idle());
    });
    while (!queue.idle()) std::this_thread::yield();
    EXPECT_TRUE(work->test()) << i;
    watcher.join();
    EXPECT_TRUE(idle_when_done.load()) << i;
  }
}

TEST(Work, progresses_without_its_caller) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    std::vector<float> data(kSanitized ? 20'000 : 500'000, 1.0f);  // more than the slots hold
    const auto work = communicator.start(summed_in_place(data));
    while (!work->test()) std::this_thread::yield();  // never in wait()
    if (data.back() != 2.0f) throw std::runtime_error("a wrong sum");
  }));
}

TEST(Work, throws_what_the_call_threw_each_time) {
  expect_all_well(run_communicators(1, test_settings(), [](Communicator& communicator) {
    Call arguments;
    arguments.count = 3;
    const auto work = communicator.start(arguments);  // no buffers
    for (int i = 0; i < 2; ++i) {
      try {
        work->wait();
      } catch (const UsageError& error) {
        if (contains(error.what(), "needs an input")) continue;
      }
      throw std::runtime_error("no error");
    }
    sum_of_ones(communicator, 10);
  }));
}

TEST(Work, wait_gives_up_after_its_timeout_and_the_call_goes_on) {
  std::atomic<bool> timed_out{false};
  expect_all_well(run_communicators(2, test_settings(), [&](Communicator& communicator) {
    std::vector<float> data(10, 1.0f);
    if (communicator.rank() == 1)
      while (!timed_out.load()) std::this_thread::yield();
    const auto work = communicator.start(summed_in_place(data));
    if (communicator.rank() == 0) {
      try {
        work->wait(0.01);
        throw std::runtime_error("no timeout");
      } catch (const TimeoutError& error) {
        if (!contains(error.what(), "still under way")) throw;
      }
      timed_out.store(true);
    }
    work->wait();
    if (data[0] != 2.0f) throw std::runtime_error("a wrong sum");
  }));
}

TEST(Work, ends_on_all_ranks_when_one_aborts) {
  const auto outcomes = run_communicators(3, test_settings(), [](Communicator& communicator) {
    std::vector<float> data(10, 1.0f);
    if (communicator.rank() == 2) {
      communicator.abort("the loss is NaN");
      communicator.run(summed_in_place(data));
    } else {
      communicator.start(summed_in_place(data))->wait();
    }
  });
  for (const std::string& outcome : outcomes) {
    EXPECT_TRUE(contains(outcome, "rank 2 (pid")) << outcome;
    EXPECT_TRUE(contains(outcome, "aborted the communicator: the loss is NaN")) << outcome;
  }
}

TEST(Work, of_another_thread_is_aborted_as_well) {
  std::atomic<bool> ended{false};
  const auto outcomes = run_communicators(2, test_settings(), [&](Communicator& communicator) {
    if (communicator.rank() == 1) {  // calls nothing: rank 0 waits in vain until its own other thread ends it
      while (!ended.load()) std::this_thread::yield();
      return;
    }
    std::thread other([&] { communicator.abort("enough"); });
    try {
      sum_of_ones(communicator, 100);
    } catch (...) {
      other.join();
      ended.store(true);
      throw;
    }
    other.join();
    ended.store(true);
  });
  EXPECT_TRUE(contains(outcomes[0], "aborted the communicator: enough")) << outcomes[0];
}

TEST(Work, that_was_started_is_done_when_the_communicator_is_closed) {
  expect_all_well(run_communicators(2, test_settings(), [](Communicator& communicator) {
    std::vector<float> data(100'000, 1.0f);
    const auto work = communicator.start(summed_in_place(data));
    communicator.close();
    if (!work->test() || data[0] != 2.0f) throw std::runtime_error("not done");
    work->wait();
    const auto late = communicator.start(summed_in_place(data));
    try {
      late->wait();
    } catch (const UsageError&) {
      return;
    }
    throw std::runtime_error("a closed communicator ran a call");
  }));
}

TEST(Work, of_several_communicators_runs_at_the_same_time) {
  ThreadStore store;
  expect_all_well(run_ranks(2, [&](int rank) {
    Communicator first(store, rank, 2, test_settings(), built_in_table(), "first");
    Communicator second(store, rank, 2, test_settings(), built_in_table(), "second");
    std::vector<float> a(5'000, 1.0f), b(5'000, 2.0f);
    // In opposite orders: one after the other they would wait for each other for ever.
    Communicator &one = rank == 0 ? first : second, &two = rank == 0 ? second : first;
    const auto earlier = one.start(summed_in_place(rank == 0 ? a : b)),
               later = two.start(summed_in_place(rank == 0 ? b : a));
    later->wait();
    earlier->wait();
    if (a[0] != 2.0f || b[0] != 4.0f) throw std::runtime_error("a wrong sum");
  }));
}

}  // namespace
}  // namespace ringtree::testing
