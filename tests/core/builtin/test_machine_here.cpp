// Where constants come from: kept ones before a probe, a probe before those that are built in; and what is kept when.
// With probes that are made up: what real ones find is core/probe's.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/builtin/machine_file.h"
#include "core/builtin/machine_here.h"
#include "core/model/probed_constants.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {
namespace {

// A machine that copies half as fast as the one whose constants are built in.
const ProbedMachine kFound{1e-7, kReferenceNearBps / 2, kReferenceCopyBps / 2};
const double kCopyBps = default_machine().copy_Bps / 2;
constexpr std::chrono::sys_days kDay = std::chrono::year{2026} / 11 / 25;

class MachineHereTest : public ::testing::Test {
 protected:
  MachineHereTest() : folder_(std::filesystem::temp_directory_path() / unique_id()) {
    here_ = {{0, 1}, "a processor", folder_, kDay, [this](double seconds) {
               ++num_probes_;
               seconds_ = seconds;
               return found_;
             }};
  }
  ~MachineHereTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    if (std::filesystem::exists(folder_))
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
        if (entry.is_regular_file()) all.push_back(entry.path());
    return all;
  }

  const std::filesystem::path folder_;
  ProbedMachine found_ = kFound;
  MachineSurroundings here_;
  int num_probes_ = 0;
  double seconds_ = 0;
};

TEST_F(MachineHereTest, is_probed_once_and_then_kept) {
  const MachineHere first = machine_in(here_, 1);
  EXPECT_EQ(first.machine.copy_Bps, kCopyBps);
  EXPECT_TRUE(contains(first.told, "constants probed 2026-11-25: ")) << first.told;
  EXPECT_TRUE(contains(first.told, "bytes at 4 GB/s beyond the caches and 20 GB/s inside them")) << first.told;
  ASSERT_EQ(files().size(), 1u) << "and no draft is left";
  found_ = {2e-7, kReferenceNearBps, kReferenceCopyBps};
  here_.today = kDay + std::chrono::days{30};
  const MachineHere second = machine_in(here_, 1);
  EXPECT_EQ(num_probes_, 1);
  EXPECT_EQ(machine_text(second.machine), machine_text(first.machine));
  EXPECT_TRUE(contains(second.told, files()[0].string())) << second.told;
}

TEST_F(MachineHereTest, is_probed_anew_after_30_days_and_where_the_date_is_to_come) {
  machine_in(here_, 1);
  here_.today = kDay + std::chrono::days{31};
  const MachineHere anew = machine_in(here_, 1);
  EXPECT_EQ(num_probes_, 2);
  EXPECT_EQ(anew.machine.source, "probed 2026-12-26");
  machine_in(here_, 1);
  EXPECT_EQ(num_probes_, 2) << "and kept again";
  here_.today = kDay;
  machine_in(here_, 1);
  EXPECT_EQ(num_probes_, 3);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(MachineHereTest, is_another_with_other_cores_or_another_processor) {
  machine_in(here_, 1);
  here_.cores = {0, 2};
  machine_in(here_, 1);
  here_.cpu = "another processor";
  machine_in(here_, 1);
  EXPECT_EQ(num_probes_, 3);
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(MachineHereTest, names_cores_by_their_ranges) {
  const auto second_line = [](const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::getline(file, line);
    return line;
  };
  const std::pair<std::vector<int>, std::string> cases[] = {
      {{7}, "7"}, {{0, 1}, "0-1"}, {{0, 2}, "0,2"}, {{0, 1, 2, 3, 8, 10, 11}, "0-3,8,10-11"}};
  for (const auto& [cores, text] : cases) {
    here_.cores = cores;
    machine_in(here_, 1);
    ASSERT_EQ(files().size(), 1u);
    EXPECT_EQ(second_line(files()[0]), "a processor, cores " + text);
    std::filesystem::remove(files()[0]);
  }
}

TEST_F(MachineHereTest, is_probed_for_less_than_a_second_whatever_is_asked_for) {
  machine_in(here_, 30);
  EXPECT_EQ(seconds_, 0.6);
  here_.cores = {0};
  machine_in(here_, 0.25);
  EXPECT_EQ(seconds_, 0.25);
}

TEST_F(MachineHereTest, ignores_a_file_that_is_malformed_or_another_machines) {
  machine_in(here_, 1);
  const std::string path = files()[0];
  std::ifstream stored(path);
  const std::string good{std::istreambuf_iterator<char>(stored), {}};
  std::string other = good, newer = good, extreme = good;
  other.replace(other.find("a processor"), 11, "B processor");
  newer.replace(newer.find("machine/2"), 9, "machine/3");
  extreme.replace(extreme.find(" 4e+09 "), 7, " 4e+12 ");
  int probes = 1;
  for (const std::string& text : {std::string(), std::string("{}"), other, newer, extreme, good + "more\n",
                                  good.substr(0, good.size() - 3), std::string(100'000, 'x')}) {
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_EQ(machine_in(here_, 1).machine.copy_Bps, kCopyBps);
    EXPECT_EQ(num_probes_, ++probes) << text.substr(0, 200);
    machine_in(here_, 1);
    EXPECT_EQ(num_probes_, probes) << "it was written anew";
  }
  std::ofstream(path, std::ios::trunc) << good;
  machine_in(here_, 1);
  EXPECT_EQ(num_probes_, probes) << "the good one is read";
}

TEST_F(MachineHereTest, keeps_nothing_that_was_disturbed_and_says_what) {
  found_.copy_Bps.reset();
  const MachineHere partly = machine_in(here_, 1);
  EXPECT_EQ(partly.machine.copy_Bps, default_machine().copy_Bps);
  EXPECT_EQ(partly.machine.source, "probed 2026-11-25");
  EXPECT_TRUE(contains(partly.told, "; probing copies gave no steady result: built-in values are used")) << partly.told;
  found_ = {};
  const MachineHere nothing = machine_in(here_, 1);
  EXPECT_EQ(machine_text(nothing.machine), machine_text(default_machine()));
  EXPECT_TRUE(contains(nothing.told, "constants built in: ")) << nothing.told;
  EXPECT_TRUE(files().empty());
}

TEST_F(MachineHereTest, with_one_core_keeps_what_there_is) {
  here_.cores = {3};
  found_.handoff_s.reset();
  EXPECT_TRUE(contains(machine_in(here_, 1).told, "the hand-off (there is one core) gave no steady result"));
  machine_in(here_, 1);
  EXPECT_EQ(num_probes_, 1);
}

TEST_F(MachineHereTest, does_without_a_cache) {
  here_.cache_folder = "";
  EXPECT_EQ(machine_in(here_, 1).machine.copy_Bps, kCopyBps);
  std::ofstream(folder_) << "a file where the folder should be";
  here_.cache_folder = folder_;
  EXPECT_EQ(machine_in(here_, 1).machine.copy_Bps, kCopyBps);
  EXPECT_EQ(num_probes_, 2);
}

TEST(MachineFile, is_written_whole_or_not_at_all) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / unique_id();
  const std::string path = folder / "machine.txt";
  EXPECT_TRUE(keep_machine(path, "of a test", default_machine()));
  EXPECT_EQ(machine_text(read_machine(path, "of a test").value()), machine_text(default_machine()));
  EXPECT_FALSE(read_machine(path, "of a").has_value());
  EXPECT_FALSE(read_machine(path, "of a test, too").has_value());
  EXPECT_FALSE(read_machine(folder / "none.txt", "of a test").has_value());
  EXPECT_FALSE(keep_machine(folder, "of a test", default_machine())) << "a folder is there";
  EXPECT_EQ(std::distance(std::filesystem::recursive_directory_iterator(folder), {}), 1) << "no draft is left";
  std::filesystem::remove_all(folder);
}

// Sets RINGTREE_PROBE, or unsets it, for as long as it lives.
class Switch {
 public:
  explicit Switch(const char* value) {
    if (const char* const before = std::getenv("RINGTREE_PROBE")) before_ = before;
    set(value);
  }
  ~Switch() { set(before_ ? before_->c_str() : nullptr); }
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

 private:
  static void set(const char* value) { value ? setenv("RINGTREE_PROBE", value, 1) : unsetenv("RINGTREE_PROBE"); }
  std::optional<std::string> before_;
};

TEST(MachineProber, there_is_none_unless_it_is_asked_for) {
  for (const char* value : {static_cast<const char*>(nullptr), "", "0"}) {
    const Switch off(value);
    EXPECT_FALSE(machine_prober());
    const MachineHere here = machine_here();
    EXPECT_EQ(machine_text(here.machine), machine_text(default_machine()));
    EXPECT_TRUE(contains(here.told, "constants built in: ")) << here.told;
    EXPECT_TRUE(here.told.ends_with(" (RINGTREE_PROBE=1 probes this machine)")) << here.told;
  }
  const Switch on("1");
  EXPECT_TRUE(machine_prober());
}

TEST(MachineProber, refuses_a_wrong_value_when_it_is_asked_and_not_before) {
  const Switch wrong("perhaps");
  const auto prober = machine_prober();
  EXPECT_EQ(outcome_of([&] { prober(1); }),
            "usage: invalid RINGTREE_PROBE 'perhaps': 0 probes nothing, 1 the links between hosts and this machine's "
            "constants; unset, the links alone are probed");
}

TEST(MachineProber, of_a_rank_with_a_wrong_value_is_told_on_all_ranks) {
  const Switch wrong("perhaps");
  const auto settings = [](int rank) {
    Settings own = test_settings();
    if (rank == 0) own.probe = machine_prober();
    return own;
  };
  const auto outcomes = run_communicators(3, settings, [](Communicator&) {});
  for (const std::string& outcome : outcomes)
    EXPECT_TRUE(contains(outcome, "invalid RINGTREE_PROBE 'perhaps': 0 probes nothing")) << outcome;
}

}  // namespace
}  // namespace ringtree::testing
