// Ranks that sleep whenever they cannot move, over the real links on the explorer: no wake-up is lost, neither on
// fenced links nor where the sleeper fences everybody; and without any one part of the handshake one is.
#include "tests/models/programs/exchange.h"
#include "tests/models/programs/expect.h"
#include "tests/models/programs/one_way.h"

namespace ringtree::explorer {
namespace {

constexpr auto sleepers = explore_one_way<1, ExploredBell>;

TEST(ExploredSleep, no_wake_up_is_lost_on_fenced_links) {
  expect_right(sleepers({.num_messages = 3, .bytes = kSmall, .fenced = true}, {}));
}

TEST(ExploredSleep, no_wake_up_is_lost_where_the_sleeper_fences_everybody) {
  expect_right(sleepers({.num_messages = 2, .bytes = kSmall, .fenced = false}, {.fences_others = true}));
}

TEST(ExploredSleep, no_wake_up_is_lost_where_all_messages_lie_in_lines) {
  const LinkUse in_lines = {.in_lines = true};
  expect_right(sleepers({.num_messages = 3, .bytes = kSmall, .fenced = true, .use = in_lines}, {}));
  expect_right(
      sleepers({.num_messages = 2, .bytes = kSmall, .fenced = false, .use = in_lines}, {.fences_others = true}));
}

TEST(ExploredSleep, no_wake_up_is_lost_between_ranks_that_exchange) {
  for (const auto& scripts : std::vector<std::array<Script, 2>>{{"aA", "aA"}, {"aA", "x"}, {"aaA", "aAA"}})
    expect_right(explore_exchange<ExploredBell>({.scripts = scripts, .fenced = true}));
}

TEST(ExploredSleep, without_its_fence_one_is) {
  expect_fault(sleepers({.num_messages = 1, .bytes = kSmall, .fenced = false},
                        {.fences_others = true, .without_full_fences = true}),
               Fault::deadlock);
}

TEST(ExploredSleep, without_a_second_look_one_is) {
  for (const bool fenced : {false, true})
    expect_fault(
        sleepers({.num_messages = 1, .bytes = kSmall, .fenced = fenced, .sleep = {.without_second_look = true}},
                 {.fences_others = !fenced}),
        Fault::deadlock);
}

TEST(ExploredSleep, on_fenced_links_all_accesses_of_the_handshake_must_be_seq_cst) {
  const std::vector<Weakening> weakenings = {
      {"flag", Access::store, std::memory_order_release},     {"flag", Access::load, std::memory_order_acquire},
      {"sleeping", Access::store, std::memory_order_release}, {"sleeping", Access::load, std::memory_order_acquire},
      {"released", Access::store, std::memory_order_release}, {"released", Access::load, std::memory_order_acquire},
  };
  for (const Weakening& weakening : weakenings)  // with one message more than slots, so that both ranks must wait
    expect_fault(sleepers({.num_messages = kSlots + 1, .bytes = kSmall, .fenced = true}, {.weakenings = {weakening}}),
                 Fault::deadlock);
}

}  // namespace
}  // namespace ringtree::explorer
