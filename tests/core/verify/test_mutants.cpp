// The verifier's own test: thousands of seeded mutants of all built-in algorithms. What it accepts, an oracle that
// shares nothing with it (oracle.h) must find right in every one of many random runs; what it rejects, the oracle must
// find wrong in at least one. Programs that are not well formed are rejected before, by Program's constructor.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <functional>
#include <map>

#include "core/algorithms/registry.h"
#include "core/verify/verify.h"
#include "tests/core/host_groupings.h"
#include "tests/core/verify/mutate.h"
#include "tests/core/verify/oracle.h"

namespace ringtree {
namespace {

using testing::Mutator;
using testing::oracle_problem;
using testing::Steps;
using testing::steps_of;

constexpr uint64_t kSeed = 20261120;

struct Origin {
  std::string name;
  std::function<Schedule(std::mt19937_64&)> make;
};

/// Every algorithm with every collective that it does, n in 2..9, compositions on hosts of all kinds, also by switches,
/// and two hand-made ones that use multicast and scratch.
std::vector<Origin> origins() {
  std::vector<Origin> all;
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives)
      all.push_back({algorithm.name, [&algorithm, collective](std::mt19937_64& random) {
                       const int n = 2 + static_cast<int>(random() % 8);
                       const int root =
                           has_root(collective) ? static_cast<int>(random() % static_cast<uint64_t>(n)) : 0;
                       if (!algorithm.compose) return algorithm.make(collective, n, root);
                       const std::vector<HostGroups> hosts = testing::groupings(n);
                       return algorithm.make(collective, n, root, hosts[random() % hosts.size()]);
                     }});
  for (const Algorithm& algorithm : switch_algorithms())
    for (Collective collective : algorithm.collectives)
      all.push_back({algorithm.name, [&algorithm, collective](std::mt19937_64& random) {
                       const int n = 2 + static_cast<int>(random() % 8);
                       const std::vector<HostGroups> hosts = testing::groupings(n);
                       if (!algorithm.for_several_hosts) return algorithm.make(collective, n, 0);
                       return algorithm.make(collective, n, 0, hosts[random() % hosts.size()]);
                     }});
  all.push_back({"hand_one_shot",
                 [](std::mt19937_64& random) { return testing::hand_one_shot(2 + static_cast<int>(random() % 8)); }});
  all.push_back({"hand_scratch_swap", [](std::mt19937_64&) { return testing::hand_scratch_swap(); }});
  return all;
}

struct Outcome {
  std::string kind = "equivalent";  // or a fault's kind, or "malformed": the constructor threw
  std::string problem;
};

Outcome judge(const Steps& steps) {
  try {
    const Verdict verdict = verify(steps.schedule());
    return verdict.ok ? Outcome{} : Outcome{verdict.kind, verdict.problem};
  } catch (const ScheduleError& error) {
    return {"malformed", error.what()};
  }
}

/// n is at most 9, so a rank is one digit; what follows it must not be another.
bool names_rank(const std::string& problem, const ScheduleShape& shape, int rank) {
  const std::string number = std::to_string(rank);
  for (const std::string& text : {shape.called(rank), "link " + number + " ->", "-> " + number}) {
    const size_t at = problem.find(text);
    if (at == std::string::npos) continue;
    const size_t end = at + text.size();
    if (end == problem.size() || !std::isdigit(static_cast<unsigned char>(problem[end]))) return true;
  }
  return false;
}

TEST(Mutants, VerifierAndOracleAgree) {
  std::mt19937_64 random(kSeed);
  const std::vector<Origin> all = origins();
  std::map<std::string, int> count;
  int num_mutants = 0, num_rejected = 0, num_named = 0;
  for (int round = 0; round < 24; ++round) {
    for (const Origin& origin : all) {
      for (int kind = 0; kind < Mutator::kNumMutations; ++kind) {
        Steps steps = steps_of(origin.make(random));
        Mutator mutator(steps, random);
        bool changed = false;
        for (int tries = 0; tries < 8 && !changed; ++tries) changed = mutator.apply(kind);
        if (!changed) continue;
        const Outcome outcome = judge(steps);
        ++num_mutants;
        ++count[outcome.kind];
        const bool accepted = outcome.kind == "equivalent";
        if (!accepted) {
          ++num_rejected;
          if (names_rank(outcome.problem, steps.shape, mutator.rank())) ++num_named;
        }
        if (outcome.kind == "malformed") continue;  // there is no schedule to run
        const std::string shown = oracle_problem(steps.schedule(), static_cast<uint64_t>(num_mutants), 12);
        EXPECT_EQ(accepted, shown.empty())
            << origin.name << ", n = " << steps.shape.num_ranks << ", " << collective_name(steps.shape.collective)
            << ": " << Mutator::kNames[kind] << " of rank " << mutator.rank() << ", step " << mutator.index()
            << ": the verifier says '" << outcome.problem << "', the oracle says '" << shown << "'";
      }
    }
  }
  printf("seed %llu: %d mutants, %d rejected, %d of these name the mutated rank (%.1f %%)\n",
         static_cast<unsigned long long>(kSeed), num_mutants, num_rejected, num_named,
         100.0 * num_named / num_rejected);
  for (const auto& [kind, number] : count) printf("  %-22s %d\n", kind.c_str(), number);
  EXPECT_GE(num_mutants, 500);
  EXPECT_GE(num_named, 0.85 * num_rejected);
  for (const char* kind : {"malformed", fault::kLedger, fault::kDeadlock, fault::kUninitialised, fault::kWrongChunk,
                           fault::kDoubleContribution, fault::kMissingContribution, fault::kDifferentExpressions})
    EXPECT_GT(count[kind], 0) << kind;
}

TEST(Mutants, OriginalsAreAcceptedByBoth) {
  std::mt19937_64 random(kSeed);
  for (const Origin& origin : origins()) {
    for (int i = 0; i < 4; ++i) {
      const Schedule schedule = origin.make(random);
      EXPECT_EQ(verify(schedule).problem, "");
      EXPECT_EQ(oracle_problem(schedule, static_cast<uint64_t>(i), 4), "")
          << origin.name << ", n = " << schedule.shape().num_ranks;
    }
  }
}

TEST(Oracle, SeesEachKindOfFault) {
  const auto spoil = [](const Schedule& schedule, auto change) {
    Steps steps = steps_of(schedule);
    change(steps);
    return oracle_problem(steps.schedule(), kSeed, 8);
  };
  EXPECT_NE(spoil(testing::hand_ring(3), [](Steps& s) { s.by_rank[1].pop_back(); }), "");
  EXPECT_NE(spoil(testing::hand_ring(3), [](Steps& s) { s.by_rank[1].erase(s.by_rank[1].begin()); }), "");
  EXPECT_NE(spoil(testing::hand_one_shot(3), [](Steps& s) { s.by_rank[2][1].src_at = 0; }).find("other bits"),
            std::string::npos);
  EXPECT_NE(
      spoil(testing::hand_ring(3), [](Steps& s) { s.by_rank[0][1].src = {}, s.by_rank[0][1].verb = Verb::recv_send; })
          .find("wrong sum"),
      std::string::npos);
  EXPECT_NE(spoil(testing::hand_scratch_swap(), [](Steps& s) { std::swap(s.by_rank[1][4], s.by_rank[1][5]); })
                .find("wrong sum"),
            std::string::npos);
}

}  // namespace
}  // namespace ringtree
