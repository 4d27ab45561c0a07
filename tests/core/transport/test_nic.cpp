// The emulated network card's arithmetic: when a message leaves, how long it takes, who waits for whom and whose turn
// it is. What that makes of whole collectives: tests/core/engine/test_emulation.cpp.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/transport/nic.h"

namespace ringtree {
namespace {

constexpr double kAlpha = 1e-3;    // 1,000,000 ns
constexpr double kBeta = 20e6;     // 50 ns a byte
constexpr int64_t kStart = 7'000;  // any time will do

Nic card_of(NicClock& clock, int place = 0, int num_places = 2) {
  return Nic(&clock, place, num_places, kAlpha, kBeta);
}

TEST(Nic, an_idle_card_takes_a_message_when_it_is_ready) {
  NicClock clock;
  const Nic nic = card_of(clock);
  const Nic::Grant grant = nic.take(1000, 1, kStart, kStart + 300);
  EXPECT_TRUE(grant.taken);
  EXPECT_EQ(grant.start_ns, kStart) << "not when the thread got to run";
  EXPECT_EQ(clock.busy_until_ns.load(), kStart + 50'000) << "alpha is on the way, the card is free";
  EXPECT_EQ(nic.arrival_ns(kStart, 1000, 0), kStart + 50'000 + 1'000'000);
}

TEST(Nic, a_busy_card_takes_nothing_and_says_when_to_ask_again) {
  NicClock clock;
  const Nic nic = card_of(clock);
  ASSERT_TRUE(nic.take(1000, 1, kStart, kStart).taken);
  const Nic::Grant refused = nic.take(10, 1, kStart + 1, kStart + 49'999);
  EXPECT_FALSE(refused.taken);
  EXPECT_EQ(refused.look_again_ns, kStart + 50'000);
  EXPECT_EQ(clock.busy_until_ns.load(), kStart + 50'000);
  const Nic::Grant later = nic.take(10, 1, kStart + 1, kStart + 58'000);
  EXPECT_TRUE(later.taken);
  EXPECT_EQ(later.start_ns, kStart + 50'000) << "the card goes on where it became free";
}

TEST(Nic, each_reader_is_sent_to_on_its_own) {
  NicClock clock;
  const Nic nic = card_of(clock);
  ASSERT_TRUE(nic.take(100, 3, kStart, kStart).taken);
  EXPECT_EQ(clock.busy_until_ns.load(), kStart + 3 * 5'000);
  for (int reader : {0, 1, 2})
    EXPECT_EQ(nic.arrival_ns(kStart, 100, reader), kStart + (reader + 1) * 5'000 + 1'000'000);
}

TEST(Nic, an_empty_message_takes_alpha_alone) {
  NicClock clock;
  const Nic nic = card_of(clock);
  EXPECT_TRUE(nic.take(0, 1, kStart, kStart).taken);
  EXPECT_EQ(clock.busy_until_ns.load(), kStart);
  EXPECT_EQ(nic.arrival_ns(kStart, 0, 0), kStart + 1'000'000);
}

TEST(Nic, ranks_of_a_host_share_its_card_and_two_hosts_do_not) {
  NicClock clock, other_clock;
  ASSERT_TRUE(card_of(clock, 0).take(2000, 1, kStart, kStart).taken);
  EXPECT_FALSE(card_of(clock, 1).take(100, 1, kStart, kStart).taken);
  EXPECT_TRUE(card_of(other_clock, 0).take(100, 1, kStart, kStart).taken);
}

TEST(Nic, the_waiting_rank_that_was_served_least_recently_has_its_turn) {
  NicClock clock;
  const Nic first = card_of(clock, 0), second = card_of(clock, 1);
  const int64_t free = kStart + 5'000, later = free + 100;
  ASSERT_TRUE(first.take(100, 1, kStart, kStart).taken);
  EXPECT_FALSE(first.take(100, 1, kStart, kStart + 1).taken);
  EXPECT_FALSE(second.take(100, 1, kStart + 2, kStart + 2).taken);
  const Nic::Grant not_yet = first.take(100, 1, kStart, later);
  EXPECT_FALSE(not_yet.taken) << "the card is free, but the other waits and was never served";
  EXPECT_GT(not_yet.look_again_ns, later);
  EXPECT_EQ(second.take(100, 1, kStart + 2, later).start_ns, free);
  EXPECT_EQ(first.take(100, 1, kStart, free + 5'000).start_ns, free + 5'000);
}

TEST(Nic, of_ranks_that_were_never_served_the_lower_goes_first) {
  NicClock clock;
  clock.busy_until_ns = kStart;
  const Nic first = card_of(clock, 0), second = card_of(clock, 1);
  EXPECT_FALSE(first.take(100, 1, 0, kStart - 1).taken);
  EXPECT_FALSE(second.take(100, 1, 0, kStart - 1).taken);
  EXPECT_FALSE(second.take(100, 1, 0, kStart).taken);
  EXPECT_TRUE(first.take(100, 1, 0, kStart).taken);
}

TEST(Nic, a_rank_that_does_not_wait_is_not_waited_for) {
  NicClock clock;
  const Nic second = card_of(clock, 1);
  int64_t now = kStart;
  for (int message = 0; message < 5; ++message, now += 5'000) EXPECT_EQ(second.take(100, 1, kStart, now).start_ns, now);
}

TEST(Nic, ranks_that_send_at_once_get_the_rate_once) {
  NicClock clock;
  constexpr int kThreads = 4, kMessages = 500;
  constexpr int64_t kLate = int64_t{1} << 50;  // the card is always free by then, so only turns and races remain
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&clock, i] {
      const Nic nic = card_of(clock, i, kThreads);
      for (int sent = 0; sent < kMessages;) {
        if (nic.take(10, 1, kStart, kLate).taken) {
          ++sent;
        } else {
          std::this_thread::yield();
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clock.busy_until_ns.load(), kStart + int64_t{kThreads} * kMessages * 500);
}

TEST(Nic, a_link_without_a_card_is_not_shaped) {
  NicClock clock;
  EXPECT_FALSE(Nic().shaped());
  EXPECT_TRUE(card_of(clock).shaped());
}

}  // namespace
}  // namespace ringtree
