// The probe of a machine's constants: medians, unsteady answers, and the bound of its time by a clock that tests move.
#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "core/base/error.h"
#include "core/probe/machine_probe.h"
#include "tests/core/probe/usable_cores.h"

namespace ringtree {
namespace {

constexpr int64_t kMs = 1'000'000;

// Probes that answer what they are told, one after the other, and each take `took_ns` of a clock that only they move.
struct Scripted {
  struct Script {
    std::vector<std::optional<double>> answers;  // the last one again and again
    int64_t took_ns = kMs;
    int num_asked = 0;
  };
  Script handoff{{1e-7}}, near_copy{{4e10}}, far_copy{{1e10}};
  int64_t clock_ns = 5'000 * kMs;

  MachineProbes probes() {
    const auto probe = [this](Script& script) -> MachineProbes::Probe {
      return [this, &script] {
        clock_ns += script.took_ns;
        const auto at = static_cast<size_t>(script.num_asked++);
        return script.answers[std::min(at, script.answers.size() - 1)];
      };
    };
    return {probe(handoff), probe(near_copy), probe(far_copy), [this] { return clock_ns; }};
  }
  int num_asked() const { return handoff.num_asked + near_copy.num_asked + far_copy.num_asked; }
};

TEST(MachineProbe, gives_the_median_of_five_answers) {
  Scripted scripted;
  scripted.handoff.answers = {3e-7, 1e-7, 2e-7, 2.5e-7, 1.5e-7};
  scripted.far_copy.answers = {1e10, std::nullopt, 2e10, 1.2e10, 1.4e10};  // of four the mean of the middle two
  const ProbedMachine found = probe_machine(scripted.probes(), 1);
  EXPECT_EQ(found.handoff_s, 2e-7);
  EXPECT_EQ(found.near_Bps, 4e10);
  EXPECT_EQ(found.copy_Bps, 1.3e10);
  EXPECT_EQ(scripted.num_asked(), 15);
}

TEST(MachineProbe, gives_nothing_where_answers_are_few_or_disagree) {
  Scripted scripted;
  scripted.handoff.answers = {1e-7, 1e-7, 1e-7, 1e-7, 4.1e-7};
  scripted.near_copy.answers = {4e10, 4e10, std::nullopt};
  scripted.far_copy.answers = {1e10, 4e10, 2e10, 2e10, 2e10};
  const ProbedMachine found = probe_machine(scripted.probes(), 1);
  EXPECT_EQ(found.handoff_s, std::nullopt) << "one is more than four times another";
  EXPECT_EQ(found.near_Bps, std::nullopt) << "two answered";
  EXPECT_EQ(found.copy_Bps, 2e10) << "just four times";
}

TEST(MachineProbe, ends_in_time_however_long_a_probe_takes) {
  for (const int64_t took_ms : {1, 30, 50, 90, 150, 1'000}) {
    Scripted scripted;
    scripted.far_copy.took_ns = took_ms * kMs;
    const int64_t before_ns = scripted.clock_ns;
    const ProbedMachine found = probe_machine(scripted.probes(), 0.3);
    // Only the first of a kind, of which nothing is known, may end late.
    const int64_t bound_ms = std::max<int64_t>(300, took_ms + 2);
    EXPECT_LE(scripted.clock_ns - before_ns, bound_ms * kMs) << took_ms;
    EXPECT_EQ(found.copy_Bps.has_value(), took_ms <= 90) << took_ms << " ms three times in 300 ms";
  }
}

TEST(MachineProbe, asks_nothing_without_time) {
  Scripted scripted;
  const ProbedMachine found = probe_machine(scripted.probes(), 0);
  EXPECT_EQ(scripted.num_asked(), 0);
  EXPECT_FALSE(found.handoff_s || found.near_Bps || found.copy_Bps);
}

TEST(MachineProbe, a_probe_that_fails_has_no_answer) {
  Scripted scripted;
  MachineProbes probes = scripted.probes();
  probes.near_copy = []() -> std::optional<double> { throw std::bad_alloc(); };
  probes.far_copy = []() -> std::optional<double> { throw WorldError("no thread is left"); };
  const ProbedMachine found = probe_machine(probes, 1);
  EXPECT_EQ(found.handoff_s, 1e-7);
  EXPECT_FALSE(found.near_Bps || found.copy_Bps);
}

TEST(MachineProbe, of_this_machine_answers_with_times_and_rates) {
  const MachineProbes probes = machine_probes(usable_cores(), 10);  // seconds: a busy machine must not fail a test
  if (usable_cores().size() > 1) {
    const std::optional<double> seconds = probes.handoff();
    ASSERT_TRUE(seconds.has_value());
    EXPECT_GT(*seconds, 1e-9);
    EXPECT_LT(*seconds, 1e-2);
  }
  for (const MachineProbes::Probe* probe : {&probes.near_copy, &probes.far_copy})
    for (int turn = 0; turn < 2; ++turn) {
      const std::optional<double> rate = (*probe)();
      ASSERT_TRUE(rate.has_value());
      EXPECT_GT(*rate, 1e6);
      EXPECT_LT(*rate, 1e13);
    }
}

TEST(MachineProbe, without_a_second_core_there_is_no_hand_off) {
  EXPECT_EQ(machine_probes({usable_cores()[0]}).handoff(), std::nullopt);
  const MachineProbes none = machine_probes({});
  EXPECT_EQ(none.handoff(), std::nullopt);
  EXPECT_EQ(none.far_copy(), std::nullopt);
}

}  // namespace
}  // namespace ringtree
