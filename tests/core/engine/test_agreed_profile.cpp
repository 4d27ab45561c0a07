// What the engine makes of a profile: rank 0's counts, on all ranks; `auto` runs what its rules say and says so; what
// is asked for goes before it. How a profile is read: test_profile.cpp.
#include <gtest/gtest.h>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

/// The rules twice: with a core for each rank and without, whichever this machine has.
std::string rules(const std::string& rule) {
  std::string text;
  for (const char* cores : {" own private ", " shared private "}) {
    std::string one = rule;
    for (size_t at = one.find(" * "); at != std::string::npos; at = one.find(" * ")) one.replace(at, 3, cores);
    text += one;
  }
  return text;
}

const std::string kRules = rules(
    "all_reduce 2 * 400 one_shot ll 0 ordinary 1\n"
    "all_reduce 2 * 4000 two_shot ll128 10048 streaming 1\n"
    "all_reduce 2 * rest ring simple 16384 ordinary 3\n");

std::function<Settings(int)> rank_0_has(const std::string& profile, const std::string& others = "") {
  return [=](int rank) {
    Settings settings = test_settings();
    settings.profile = rank == 0 ? profile : others;
    return settings;
  };
}

/// What `auto` ran for an all_reduce of `bytes` bytes.
Configuration run_auto(Communicator& communicator, size_t bytes, const AlgorithmRef& algorithm = {}) {
  sum_of_ones(communicator, bytes / sizeof(float), algorithm);
  const LastCall last = communicator.last_call();
  if (last.num_channels != last.configuration.channels) throw std::runtime_error("other channels than recorded");
  return last.configuration;
}

void require_equal(const Configuration& found, const Configuration& expected) {
  if (!(found == expected))
    throw std::runtime_error("ran " + found.to_string() + " instead of " + expected.to_string());
}

// Where the buffers really lie does not matter: every rank must choose alike.
TEST(AgreedProfile, has_rules_of_its_own_for_communicators_of_shared_buffers) {
  std::string text;
  for (const char* cores : {"own", "shared"})
    for (const char* rule : {"private rest ring", "shared rest one_shot"})
      text += std::string("all_reduce 2 ") + cores + " " + rule + " simple 0 ordinary 1\n";
  for (const bool shared : {false, true}) {
    const auto settings = [&](int rank) {
      Settings own = rank_0_has(text)(rank);
      own.shared_buffers = shared;
      return own;
    };
    expect_all_well(run_communicators(2, settings, [&](Communicator& communicator) {
      require_equal(run_auto(communicator, 4'000), {shared ? "one_shot" : "ring", Protocol::simple, 0, false, 1});
    }));
  }
}

TEST(AgreedProfile, is_not_used_where_ranks_disagree_about_shared_buffers) {
  const auto settings = [](int rank) {
    Settings own = test_settings();
    own.shared_buffers = rank == 1;
    return own;
  };
  for (const std::string& outcome : run_communicators(2, settings, [](Communicator&) {}))
    EXPECT_NE(outcome.find("choosing for shared buffers"), std::string::npos) << outcome;
}

TEST(AgreedProfile, of_rank_0_counts_on_all_ranks) {
  const Configuration small{"one_shot", Protocol::ll, 0, false, 1},
      medium{"two_shot", Protocol::ll128, 10'048, true, 1}, large{"ring", Protocol::simple, 16'384, false, 3};
  const std::string others = rules("all_reduce 2 * rest tree simple 0 ordinary 1\n");
  for (const std::string& of_rank_1 : {std::string(), others, std::string("not a profile")})
    expect_all_well(run_communicators(2, rank_0_has(kRules, of_rank_1), [&](Communicator& communicator) {
      for (int round = 0; round < 2; ++round) {
        for (size_t bytes : {0, 4, 400}) require_equal(run_auto(communicator, bytes), small);
        for (size_t bytes : {404, 4'000}) require_equal(run_auto(communicator, bytes), medium);
        for (size_t bytes : {4'004, 1'000'000}) require_equal(run_auto(communicator, bytes), large);
      }
      // A channel's part of a chunk is 166,668 bytes: three passes of four slices within 16 KB.
      if (communicator.last_call().cut.slice_bytes != 14 * 1024) throw std::runtime_error("another cut");
      const std::string reason = communicator.last_call().reason;
      if (!contains(reason, "measured profile") || !contains(reason, "ring") || !contains(reason, "1000000 bytes"))
        throw std::runtime_error(reason);
    }));
}

TEST(AgreedProfile, says_beforehand_what_will_run) {
  expect_all_well(run_communicators(2, rank_0_has(kRules), [](Communicator& communicator) {
    for (size_t count : {0, 100, 101, 1'000, 1'001}) {
      const auto [choice, reason] =
          communicator.choose({Collective::all_reduce, Dtype::kFloat32, ReduceOp::sum, 0, count});
      require_equal(run_auto(communicator, count * sizeof(float)), choice);
      if (communicator.last_call().reason != reason) throw std::runtime_error("another reason");
    }
  }));
}

TEST(AgreedProfile, a_profile_of_others_than_rank_0_counts_for_nobody) {
  expect_all_well(run_communicators(2, rank_0_has("", kRules), [](Communicator& communicator) {
    run_auto(communicator, 400);
    if (contains(communicator.last_call().reason, "measured")) throw std::runtime_error("rank 1's profile counted");
  }));
}

TEST(AgreedProfile, concludes_nothing_for_what_was_not_measured) {
  expect_all_well(run_communicators(3, rank_0_has(kRules), [](Communicator& communicator) {
    run_auto(communicator, 400);  // measured with two ranks
    if (contains(communicator.last_call().reason, "measured")) throw std::runtime_error("of another world size");
  }));
  expect_all_well(run_communicators(2, rank_0_has(kRules), [](Communicator& communicator) {
    const auto reason = communicator.choose({Collective::broadcast, Dtype::kFloat32, ReduceOp::sum, 0, 100}).second;
    if (contains(reason, "measured")) throw std::runtime_error("of another collective");
  }));
}

// The rules are for a core each, or for one for all: only one of the two profiles has a rule for this machine.
TEST(AgreedProfile, distinguishes_whether_every_rank_has_a_core) {
  const std::string of_one = "all_reduce 2 shared private rest tree ll 0 ordinary 1\n",
                    of_each = "all_reduce 2 own private rest tree ll 0 ordinary 1\n";
  for (Cores cores : {Cores::all, Cores::one})
    for (bool own : {false, true})
      expect_all_well(run_communicators(
                          2, rank_0_has(own ? of_each : of_one),
                          [&](Communicator& communicator) {
                            run_auto(communicator, 400);
                            const bool measured = contains(communicator.last_call().reason, "measured");
                            if (measured != (communicator.own_cores() == own))
                              throw std::runtime_error("the wrong rule");
                            if (cores == Cores::one && communicator.own_cores()) throw std::runtime_error("miscounted");
                          },
                          cores),
                      name_of(cores));
}

TEST(AgreedProfile, what_is_asked_for_goes_before_it) {
  expect_all_well(run_communicators(2, rank_0_has(kRules), [](Communicator& communicator) {
    require_equal(run_auto(communicator, 400, by("tree")), {"tree", Protocol::simple, 0, false, 1});
    require_equal(run_auto(communicator, 400, by("auto", Protocol::ll128)), {"one_shot", Protocol::ll128, 0, false, 1});
    require_equal(run_auto(communicator, 4'000, by("auto", {}, 8'192, false)),
                  {"two_shot", Protocol::ll128, 8'192, false, 1});
    if (!contains(communicator.last_call().reason, "measured")) throw std::runtime_error("no reason");
  }));
}

TEST(AgreedProfile, one_that_cannot_be_read_is_refused_on_every_rank) {
  const auto outcomes = run_communicators(3, rank_0_has("all_reduce 2 own private rest ring simple 0 ordinary\n"),
                                          [](Communicator&) { throw std::runtime_error("was made"); });
  for (const std::string& outcome : outcomes) EXPECT_TRUE(contains(outcome, "usage: profile, line 1")) << outcome;
}

TEST(AgreedProfile, an_algorithm_that_there_is_not_is_refused_when_it_is_called) {
  const std::string text =
      rules("all_reduce 2 * 400 rong simple 0 ordinary 1\nall_reduce 2 * rest ring simple 0 ordinary 1\n");
  expect_all_well(run_communicators(2, rank_0_has(text), [](Communicator& communicator) {
    const std::string outcome = outcome_of([&] { run_auto(communicator, 400); });
    if (!contains(outcome, "usage: unknown algorithm 'rong'")) throw std::runtime_error("not refused: " + outcome);
    run_auto(communicator, 404);
  }));
}

TEST(AgreedProfile, does_not_count_on_an_emulated_cluster) {
  Settings settings = test_settings();
  settings.emulation = Cluster{2, 1, 1e-4, 1e9};
  settings.profile = kRules;
  expect_all_well(run_communicators(2, settings, [](Communicator& communicator) {
    run_auto(communicator, 400);
    if (contains(communicator.last_call().reason, "measured")) throw std::runtime_error("counted");
    const std::string outcome = outcome_of([&] { run_auto(communicator, 400, by("ring", Protocol::ll)); });
    if (!contains(outcome, "usage: protocol ll does not run on an emulated cluster")) throw std::runtime_error(outcome);
    sum_of_ones(communicator, 100);
  }));
}

}  // namespace
}  // namespace ringtree::testing
