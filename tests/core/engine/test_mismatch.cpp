// Ranks that call different things: every rank must get a MismatchError, in this call or its next, that says who said
// what and in which call; never a hang, never a result. Other failures: test_failures.cpp.
#include <gtest/gtest.h>

#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

struct Difference {
  const char* name;
  Call usual, odd;  // what all ranks but one say, and what that one says
  AlgorithmRef usual_algorithm, odd_algorithm;
  std::string usual_text, odd_text;  // what the error must contain
};

std::vector<Difference> differences() {
  using enum Collective;
  const Call usual = call_of(all_reduce, 1000), large = call_of(all_reduce, 200'000);
  return {
      {"count", usual, call_of(all_reduce, 1001), by("ring"), by("ring"), "count=1000,", "count=1001,"},
      {"no elements", usual, call_of(all_reduce, 0), by("tree"), by("tree"), "count=1000,", "count=0,"},
      {"count of several passes", call_of(all_reduce, 1'000'000), usual, by("ring"), by("ring"), "count=1000000,",
       "count=1000,"},
      {"dtype", usual, call_of(all_reduce, 1000, Dtype::kInt32), by("ring"), by("ring"), "float32", "int32"},
      {"op", usual, call_of(all_reduce, 1000, Dtype::kFloat32, ReduceOp::max), by("one_shot"), by("one_shot"), "sum",
       "max"},
      {"collective", usual, call_of(all_gather, 1000), by("ring"), by("ring"), "all_reduce(count=1000",
       "all_gather(count=1000"},
      {"algorithm", usual, usual, by("ring"), by("tree"), "algorithm ring", "algorithm tree"},
      {"algorithm with the same links", usual, usual, by("one_shot"), by("two_shot"), "algorithm one_shot",
       "algorithm two_shot"},
      {"root of a broadcast", call_of(broadcast, 1000), call_of(broadcast, 1000, Dtype::kFloat32, ReduceOp::sum, 1),
       by("tree"), by("tree"), "root 0", "root 1"},
      {"root of a reduce", call_of(reduce, 1000), call_of(reduce, 1000, Dtype::kFloat32, ReduceOp::sum, 1), by("ring"),
       by("ring"), "root 0", "root 1"},
      // With two ranks neither waits for anything: the root of a broadcast sends, and so does the other in a reduce.
      {"two that only send", call_of(broadcast, 0), call_of(reduce, 0), by("tree"), by("tree"), "broadcast(count=0",
       "reduce(count=0"},
      {"protocol", usual, usual, by("ring"), by("ring", Protocol::ll), "algorithm ring)",
       "algorithm ring, protocol ll)"},
      {"protocol with flags", usual, usual, by("two_shot", Protocol::ll128), by("two_shot", Protocol::ll),
       "protocol ll128)", "protocol ll)"},
      {"slices", large, large, by("ring", {}, 16'384), by("ring", {}, 65'536), "slices of 16384 bytes)",
       "slices of 65536 bytes)"},
      {"slices of one rank", large, large, by("tree"), by("tree", {}, 16'384), "algorithm tree)",
       "algorithm tree, slices of 16384 bytes)"},
      {"slices of a protocol", large, large, by("one_shot", Protocol::ll, 10'000), by("one_shot", Protocol::ll),
       "protocol ll, slices of 10000 bytes)", "protocol ll)"},
      {"slices that come to the same", usual, usual, by("ring", Protocol::ll128, 1), by("ring", Protocol::ll128),
       "slices of 1 bytes)", "protocol ll128)"},
  };
}

// Every rank calls until something is thrown, at most twice: the first call differs on rank `odd`, the second does not.
void expect_mismatch(const Difference& difference, int n, int odd) {
  SCOPED_TRACE(std::string(difference.name) + ", rank " + std::to_string(odd) + " of " + std::to_string(n));
  const auto outcomes = run_communicators(n, test_settings(), [&](Communicator& communicator) {
    sum_of_ones(communicator, 10);
    run_then_sum(communicator, communicator.rank() == odd ? with(difference.odd, difference.odd_algorithm)
                                                          : with(difference.usual, difference.usual_algorithm));
  });
  for (const std::string& outcome : outcomes) {
    EXPECT_TRUE(contains(outcome, "mismatch: ")) << outcome;
    EXPECT_TRUE(contains(outcome, "#2")) << outcome;
    EXPECT_TRUE(contains(outcome, difference.usual_text)) << outcome;
    EXPECT_TRUE(contains(outcome, difference.odd_text)) << outcome;
    EXPECT_TRUE(contains(outcome, "rank " + std::to_string(odd) + " (pid " + std::to_string(getpid()) + ") called"))
        << outcome;
  }
}

TEST(Mismatch, is_reported_on_every_rank_and_says_who_said_what) {
  for (const Difference& difference : differences())
    for (int n : {2, 3, 4})
      for (int odd : {0, n - 1}) expect_mismatch(difference, n, odd);
}

// It changes no message and no other rank.
TEST(Mismatch, there_is_none_where_only_some_ranks_write_around_their_caches) {
  expect_all_well(run_communicators(3, test_settings(), [](Communicator& communicator) {
    for (const char* algorithm : {"ring", "tree", "one_shot"})
      sum_of_ones(communicator, 100'000, by(algorithm, {}, 0, communicator.rank() == 1));
  }));
}

TEST(Mismatch, is_seen_at_once_and_not_at_the_deadline) {
  const int64_t start_ns = now_ns();
  expect_mismatch(differences()[0], 3, 1);
  EXPECT_LT(now_ns() - start_ns, 20'000'000'000) << "the deadline of these communicators is 60 s";
}

TEST(Mismatch, of_users_own_schedules_with_one_name_is_seen_by_their_hashes) {
  const auto star = [](int first) {  // all_reduce of 3 ranks in which rank 0 folds from `first` on
    ScheduleShape shape;
    shape.name = "star";
    shape.num_ranks = 3;
    return own(Schedule(shape, [first](ProgramBuilder& builder) {
      Step step;
      if (builder.rank() == 0) {
        step.verb = Verb::recv_reduce_copy_send;
        step.recv = {{first, 0}, {3 - first, 0}};
        step.src = kInput;
        step.dst = kOutput;
        step.send_to = {1, 2};
        builder.add(step);
        return;
      }
      step.verb = Verb::send;
      step.src = kInput;
      step.send_to = {0};
      builder.add(step);
      Step recv;
      recv.verb = Verb::recv;
      recv.recv = {{0, 0}};
      recv.dst = kOutput;
      builder.add(recv);
    }));
  };
  const AlgorithmRef forwards = star(1), backwards = star(2);
  for (bool differ : {false, true}) {
    const auto outcomes = run_communicators(3, test_settings(), [&](Communicator& communicator) {
      std::vector<float> data(100, 1.0f);
      Call arguments = call_of(Collective::all_reduce, data.size());
      arguments.input = arguments.output = data.data();
      communicator.run(with(arguments, differ && communicator.rank() == 2 ? backwards : forwards));
      if (data[99] != 3.0f) throw std::runtime_error("a wrong sum");
      sum_of_ones(communicator, 10);
    });
    for (const std::string& outcome : outcomes) EXPECT_EQ(outcome.substr(0, 9), differ ? "mismatch:" : "") << outcome;
  }
}

TEST(Mismatch, of_settings_is_seen_when_the_communicator_is_made) {
  const auto outcomes = run_communicators(2, [](int rank) { return test_settings(1 + rank); }, [](Communicator&) {});
  for (const std::string& outcome : outcomes) {
    EXPECT_TRUE(contains(outcome, "mismatch: ")) << outcome;
    EXPECT_TRUE(contains(outcome, "1 channels") && contains(outcome, "2 channels")) << outcome;
  }
}

}  // namespace
}  // namespace ringtree::testing
