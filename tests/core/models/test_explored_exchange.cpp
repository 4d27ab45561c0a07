// The real exchange pool on the explorer: no slot is used by two at once, no message is lost or overwritten, and a rank
// whose link is not full always has a slot, whatever went which way before. Each rule of the pool, broken, is missed.
#include <random>

#include "tests/models/programs/exchange.h"
#include "tests/models/programs/expect.h"

namespace ringtree::explorer {
namespace {

TEST(ExploredExchange, both_ways_and_one_way) {
  for (const bool fenced : {false, true})
    for (const auto& scripts : std::vector<std::array<Script, 2>>{
             {"aaAAaaAA", "aaAAaaAA"},
             {"aAaAaAaA", "AaAaAaAa"},
             {"aaaaaaaa", "AAAAAAAA"},
             {"aAaAaAaA", "xxxx"},
             {"aaAaAaAA", "xxxx"},
             {"aiAAaiAA", "iaAAiaAA"},
         })
      expect_right(explore_exchange({.scripts = scripts, .fenced = fenced}));
}

TEST(ExploredExchange, both_ways_where_senders_look_early) {
  for (const bool fenced : {false, true})
    for (const auto& scripts :
         std::vector<std::array<Script, 2>>{{"aaAAaaAA", "aaAAaaAA"}, {"aAaAaAaA", "AaAaAaAa"}, {"aaAaAaAA", "xxxx"}})
      expect_right(explore_exchange({.scripts = scripts, .fenced = fenced, .use = {.looks_early = true}}));
}

// Scripts that links with slots of their own could play: a rank is never asked to have more messages under way than a
// link has slots. `length` steps, by a walk that takes any step that is possible.
Exchange random_exchange(uint32_t seed, size_t length) {
  std::mt19937 random(seed);
  const auto pick = [&](size_t count) { return static_cast<size_t>(random() % count); };
  Exchange exchange;
  exchange.num_links = {1 + static_cast<int>(pick(2)), 1 + static_cast<int>(pick(2))};
  exchange.fenced = pick(2) == 1;
  std::array<std::array<int, kMaxLinks>, 2> under_way{};
  const auto may_send = [&](size_t rank, size_t link) {
    return static_cast<int>(link) < exchange.num_links[rank] && under_way[rank][link] < kSlots;
  };
  while (exchange.scripts[0].size() + exchange.scripts[1].size() < length) {
    const size_t rank = pick(2), link = pick(kMaxLinks);
    Script& script = exchange.scripts[rank];
    switch (pick(5)) {
      case 0:
      case 1:
        if (!may_send(rank, link)) break;
        script += static_cast<char>((pick(8) == 0 ? 'i' : 'a') + link);
        ++under_way[rank][link];
        break;
      case 2:
        if (under_way[1 - rank][0] == 0 || !may_send(rank, 0)) break;
        script += 'x';
        --under_way[1 - rank][0];
        ++under_way[rank][0];
        break;
      default:
        if (under_way[1 - rank][link] == 0) break;
        script += static_cast<char>('A' + link);
        --under_way[1 - rank][link];
    }
  }
  return exchange;
}

TEST(ExploredExchange, what_links_with_own_slots_can_do_a_pool_can_do) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    const Exchange exchange = random_exchange(seed, 20);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + exchange.scripts[0] + " / " + exchange.scripts[1]);
    expect_right(explore_exchange(exchange));
    if (HasFailure()) return;
  }
}

// One way for long: the sender's slots end up with the receiver.
const std::array<Script, 2> kOneWay = {"aaaaaaaa", "AAAAAAAA"};

// Rank 1 comes to hold as many of rank 0's slots as it may, and all its own messages are under way; rank 0 then has
// just enough to fill its two links.
TEST(ExploredExchange, a_side_must_not_keep_one_slot_more_than_its_limit) {
  Exchange tight{.scripts = {"aba"
                             "aabb"
                             "AAA",
                             "ABA"
                             "aaa"
                             "AABB"},
                 .num_links = {2, 1}};
  expect_right(explore_exchange(tight));
  tight.above_limit = 1;
  expect_fault(explore_exchange(tight), Fault::deadlock);
}

TEST(ExploredExchange, a_return_must_be_stored_with_release_and_loaded_with_acquire) {
  for (const Access access : {Access::store, Access::load})
    expect_fault(explore_exchange({.scripts = kOneWay}, {.weakenings = {{.name = "num_given", .access = access},
                                                                        {.name = "released", .access = access}}}),
                 Fault::race);
}

TEST(ExploredExchange, a_slot_must_be_given_back_before_its_message_is_released) {
  expect_fault(
      explore_exchange<ExploredBell>({.scripts = {"aaaaa", "AAAAA"}, .fenced = true}, {.late_stores = {"num_given"}}),
      Fault::deadlock);
}

TEST(ExploredExchange, a_flag_must_not_come_before_the_payload) {
  expect_unordered(explore_exchange({.scripts = kOneWay, .use = {.flag_before_payload = true}}));
}

}  // namespace
}  // namespace ringtree::explorer
