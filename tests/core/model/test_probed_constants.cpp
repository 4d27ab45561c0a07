// Constants that were probed: what of them is believed, and their text.
#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <string>

#include "core/model/probed_constants.h"

namespace ringtree {
namespace {

const std::string kDate = "2026-11-25";

TEST(ProbedConstants, of_the_reference_machine_are_those_that_are_built_in) {
  const Machine built_in = default_machine();
  const Machine machine = with_probed({kReferenceHandoffS, kReferenceNearBps, kReferenceCopyBps}, kDate);
  EXPECT_DOUBLE_EQ(machine.alpha_s, built_in.alpha_s);
  EXPECT_EQ(machine.near_Bps, built_in.near_Bps);
  EXPECT_EQ(machine.copy_Bps, built_in.copy_Bps);
  EXPECT_EQ(machine.source, "probed 2026-11-25");
}

TEST(ProbedConstants, say_how_much_faster_or_slower_a_machine_is) {
  const Machine built_in = default_machine();
  const Machine machine = with_probed({2e-7, 2 * kReferenceNearBps, kReferenceCopyBps / 4}, kDate);
  EXPECT_NEAR(machine.alpha_s, built_in.alpha_s + 1.5e-7, 1e-15) << "0.15 us more than the reference's hand-off";
  EXPECT_EQ(machine.near_Bps, built_in.near_Bps * 2);
  EXPECT_EQ(machine.copy_Bps, built_in.copy_Bps / 4);
  EXPECT_EQ(machine.switch_s, built_in.switch_s);
  EXPECT_EQ(machine.message_s, built_in.message_s);
  EXPECT_EQ(machine.cache_bytes, built_in.cache_bytes);
}

TEST(ProbedConstants, what_was_not_found_stays_built_in) {
  const Machine built_in = default_machine();
  EXPECT_EQ(machine_text(with_probed({}, kDate)), machine_text(built_in));
  EXPECT_EQ(built_in.source, Machine::kBuiltIn);
  // Of the two rates none counts without the other: a mixture would compare them wrongly.
  for (const ProbedConstants& half : {ProbedConstants{1e-7, {}, 30e9}, ProbedConstants{1e-7, 90e9, {}}}) {
    const Machine machine = with_probed(half, kDate);
    EXPECT_EQ(machine.copy_Bps, built_in.copy_Bps);
    EXPECT_EQ(machine.near_Bps, built_in.near_Bps);
    EXPECT_EQ(machine.source, "probed 2026-11-25");
  }
  EXPECT_EQ(with_probed({.handoff_s = {}, .near_Bps = {}, .copy_Bps = 30e9}, kDate).source, Machine::kBuiltIn);
  const Machine copies = with_probed({{}, kReferenceNearBps / 2, kReferenceCopyBps / 2}, kDate);
  EXPECT_EQ(copies.alpha_s, built_in.alpha_s);
  EXPECT_EQ(copies.copy_Bps, built_in.copy_Bps / 2);
}

TEST(ProbedConstants, extremes_are_clamped) {
  const Machine built_in = default_machine();
  const Machine least = with_probed({.handoff_s = 1e-12, .near_Bps = 1, .copy_Bps = 1}, kDate);
  const Machine most = with_probed({.handoff_s = 1e3, .near_Bps = 1e18, .copy_Bps = 1e18}, kDate);
  EXPECT_EQ(least.copy_Bps, built_in.copy_Bps / 8);
  EXPECT_EQ(least.near_Bps, built_in.near_Bps / 8);
  EXPECT_EQ(most.copy_Bps, built_in.copy_Bps * 8);
  EXPECT_EQ(most.near_Bps, built_in.near_Bps * 8);
  EXPECT_NEAR(most.alpha_s - least.alpha_s, 2e-6 - 10e-9, 1e-15);
  EXPECT_GT(least.alpha_s, 0);
  // Caches are never slower than what lies beyond them, whatever the probes say.
  const Machine turned = with_probed({{}, kReferenceNearBps / 8, kReferenceCopyBps * 8}, kDate);
  EXPECT_EQ(turned.near_Bps, turned.copy_Bps);
  for (const Machine& machine : {least, most, turned}) EXPECT_TRUE(parse_machine(machine_text(machine)).has_value());
}

TEST(ProbedConstants, text_gives_the_same_constants_again) {
  for (const ProbedConstants& found : {ProbedConstants{}, ProbedConstants{123.456e-9, 41.7e9, 9.1e9},
                                       ProbedConstants{{}, 1.0 / 3 * 1e11, 1.0 / 3 * 1e10}}) {
    const Machine machine = with_probed(found, kDate);
    const std::string text = machine_text(machine);
    EXPECT_TRUE(is_machine_text(text));
    const std::optional<Machine> again = parse_machine(text);
    ASSERT_TRUE(again.has_value()) << text;
    EXPECT_EQ(again->alpha_s, machine.alpha_s);
    EXPECT_EQ(again->copy_Bps, machine.copy_Bps);
    EXPECT_EQ(again->near_Bps, machine.near_Bps);
    EXPECT_EQ(again->source, machine.source);
  }
  EXPECT_FALSE(is_machine_text(""));
  EXPECT_FALSE(is_machine_text("all_reduce 2 own private rest ring simple 0 ordinary 1\n"));
}

// One that writes 2,5 for 2.5, for as long as it lives; none() if no such locale is installed.
class DecimalComma {
 public:
  DecimalComma() : before_(std::setlocale(LC_NUMERIC, nullptr)) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "es_ES.UTF-8", "nl_NL.UTF-8"})
      if (std::setlocale(LC_NUMERIC, name) && *std::localeconv()->decimal_point == ',') return;
    none_ = true;
  }
  ~DecimalComma() { std::setlocale(LC_NUMERIC, before_.c_str()); }
  DecimalComma(const DecimalComma&) = delete;
  DecimalComma& operator=(const DecimalComma&) = delete;
  bool none() const { return none_; }

 private:
  const std::string before_;
  bool none_ = false;
};

TEST(ProbedConstants, text_is_the_same_in_every_locale) {
  const std::string_view expected = "machine 3.5e-07 8.5e+09 4e+10 probed 2026-11-25\n";
  Machine machine = default_machine();
  machine.alpha_s = 3.5e-7;
  machine.copy_Bps = 8.5e9;
  machine.near_Bps = 40e9;
  machine.source = "probed " + kDate;
  EXPECT_EQ(machine_text(machine), expected);
  const DecimalComma comma;
  if (comma.none()) GTEST_SKIP() << "no locale with a decimal comma is installed (Debian: locales-all)";
  EXPECT_EQ(machine_text(machine), expected);
  EXPECT_EQ(parse_machine(expected).value().alpha_s, 3.5e-7);
}

TEST(ProbedConstants, malformed_or_impossible_text_is_nothing) {
  ASSERT_TRUE(parse_machine("machine 3e-07 1e+10 5e+10 probed 2026-11-25\n").has_value());
  for (const char* text : {"",
                           "machine",
                           "machine ",
                           "machine \n",
                           "machine 3e-07 1e+10 5e+10\n",
                           "machine 3e-07 1e+10 5e+10 \n",
                           "machine 3e-07 1e+10 5e+10 probed 2026-11-25",
                           "machine 3e-07 1e+10 probed 2026-11-25\n",
                           "machine 3e-07  1e+10 5e+10 probed\n",
                           "machine x 1e+10 5e+10 probed\n",
                           "machine nan 1e+10 5e+10 probed\n",
                           "machine 3e-07 inf 5e+10 probed\n",
                           "machine 3e-07 1e+10 -5e+10 probed\n",
                           "machine 0 1e+10 5e+10 probed\n",
                           "machine 1 1e+10 5e+10 probed\n",
                           "machine 3e-07 1 5e+10 probed\n",
                           "machine 3e-07 5e+10 1e+10 probed\n",
                           "machine 3e-07 1e+11 2e+11 probed\n",
                           "machine 3e-07 1e+10 5e+10 probed\nmachine\n",
                           "machine 3e-07 1e+10 5e+10 \x1b[2J\n",
                           "all_reduce 2 own private rest ring simple 0 ordinary 1\n"})
    EXPECT_FALSE(parse_machine(text).has_value()) << text;
  EXPECT_FALSE(parse_machine("machine 3e-07 1e+10 5e+10 " + std::string(65, 'a') + "\n").has_value());
}

}  // namespace
}  // namespace ringtree
