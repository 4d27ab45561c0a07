// The model's constants are rank 0's on all ranks: probed once all have met, where they count, and by rank 0 alone.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "core/model/probed_constants.h"
#include "tests/core/engine/host_threads.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

// Constants that differ from rank to rank by so much that each alone would choose by other times.
Machine machine_of(int rank) {
  return with_probed({.handoff_s = (rank + 1) * 1e-7, .near_Bps = (rank + 1) * 20e9, .copy_Bps = (rank + 1) * 4e9},
                     "2026-11-25");
}

// Counts the probes of each rank; the ranks are threads of this process.
struct Probes {
  std::atomic<int> of_rank_0{0}, of_others{0};

  Settings settings(int rank) {
    Settings settings = test_settings();
    settings.probe = [this, rank](double) {
      ++(rank == 0 ? of_rank_0 : of_others);
      return machine_of(rank);
    };
    return settings;
  }
};

void require_machine(const Communicator& communicator, const Machine& wanted) {
  if (machine_text(communicator.machine()) != machine_text(wanted))
    throw std::runtime_error(machine_text(communicator.machine()) + "instead of " + machine_text(wanted));
}

TEST(AgreedMachine, is_that_of_rank_0_on_all_ranks) {
  for (const int num_ranks : {2, 4}) {
    Probes probes;
    std::vector<std::string> reasons(static_cast<size_t>(num_ranks));
    expect_all_well(run_communicators(
        num_ranks, [&](int rank) { return probes.settings(rank); },
        [&](Communicator& communicator) {
          require_machine(communicator, machine_of(0));
          std::string& all = reasons[static_cast<size_t>(communicator.rank())];
          for (size_t count = 1; count <= size_t{1} << 24; count *= 4) all += reason_of(communicator, count) + "\n";
          if (!contains(all, "; constants probed 2026-11-25)")) throw std::runtime_error(all);
        }));
    for (const std::string& all : reasons) EXPECT_EQ(all, reasons[0]);
    EXPECT_EQ(probes.of_rank_0, 1);
    EXPECT_EQ(probes.of_others, 0);
  }
}

TEST(AgreedMachine, is_built_in_without_a_probe_whatever_other_ranks_have) {
  Probes probes;
  const auto settings = [&](int rank) { return rank == 0 ? test_settings() : probes.settings(rank); };
  expect_all_well(run_communicators(2, settings, [&](Communicator& communicator) {
    require_machine(communicator, default_machine());
    if (!contains(reason_of(communicator, 100), "; constants built in)")) throw std::runtime_error("not told");
  }));
  EXPECT_EQ(probes.of_others, 0);
}

TEST(AgreedMachine, is_not_probed_where_the_closed_form_is_not_asked) {
  Probes probes;
  const auto with = [&](const std::function<void(Settings&)>& change) {
    return [&probes, change](int rank) {
      Settings settings = probes.settings(rank);
      change(settings);
      return settings;
    };
  };
  const RankBody built_in = [](Communicator& communicator) { require_machine(communicator, default_machine()); };
  const auto profile = [](Settings& settings) {
    settings.profile = "all_reduce 2 own private rest ring simple 0 ordinary 1\n";
  };
  expect_all_well(run_communicators(2, with(profile), built_in), "with a profile");
  const auto emulation = [](Settings& settings) { settings.emulation = Cluster{2, 1, 1e-4, 1e9}; };
  expect_all_well(run_communicators(2, with(emulation), built_in), "on an emulated cluster");
  const auto on_hosts = [&](int rank) {
    Settings settings = settings_on({0, 1}, rank);
    settings.probe = probes.settings(rank).probe;
    return settings;
  };
  expect_all_well(run_communicators(2, on_hosts, built_in), "on two hosts");
  expect_all_well(run_communicators(1, with([](Settings&) {}), built_in), "of one rank");
  EXPECT_EQ(probes.of_rank_0 + probes.of_others, 0);
}

TEST(AgreedMachine, is_that_of_the_whole_in_its_parts) {
  Probes probes;
  expect_all_well(run_communicators(
      4, [&](int rank) { return probes.settings(rank); },
      [](Communicator& communicator) {
        const auto part = communicator.split(communicator.rank() % 2, -communicator.rank());
        require_machine(*part, machine_of(0));
      }));
  EXPECT_EQ(probes.of_rank_0, 1);
  EXPECT_EQ(probes.of_others, 0) << "rank 0 of a part is another one";
}

TEST(AgreedMachine, is_not_probed_again_for_parts_where_the_probe_found_nothing) {
  std::atomic<int> num_probes{0};
  const auto settings = [&](int) {
    Settings own = test_settings();
    own.probe = [&](double) {
      ++num_probes;
      return default_machine();
    };
    return own;
  };
  const RankBody body = [](Communicator& communicator) {
    require_machine(*communicator.split(communicator.rank() % 2, -communicator.rank()), default_machine());
    require_machine(*communicator.shrink(), default_machine());
  };
  expect_all_well(run_communicators(4, settings, body));
  EXPECT_EQ(num_probes, 1);
}

TEST(AgreedMachine, is_not_probed_for_parts_where_rank_0_of_the_whole_has_no_probe) {
  Probes probes;
  const auto settings = [&](int rank) { return rank == 0 ? test_settings() : probes.settings(rank); };
  expect_all_well(run_communicators(4, settings, [](Communicator& communicator) {
    require_machine(*communicator.split(0, -communicator.rank()), default_machine());
  }));
  EXPECT_EQ(probes.of_rank_0 + probes.of_others, 0);
}

TEST(AgreedMachine, rank_0_is_given_a_part_of_the_time_that_others_wait) {
  double given = 0;
  const auto settings = [&](int rank) {
    Settings own = test_settings();
    own.timeout_s = 40;
    own.probe = [&, rank](double seconds) {
      given = seconds;
      return machine_of(rank);
    };
    return own;
  };
  expect_all_well(run_communicators(3, settings, [](Communicator&) {}));
  EXPECT_LE(given, 5);
  EXPECT_GT(given, 4) << "the meeting took a second and more for each eighth";
}

}  // namespace
}  // namespace ringtree::testing
