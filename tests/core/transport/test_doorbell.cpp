// The doorbell: a ring wakes a sleeper, a ring between announcing and sleeping is not lost, a deadline ends a sleep.
// Whoever would sleep for ever fails by its deadline, so a lost ring is a failure here and not a hang.
#include <gtest/gtest.h>

#include <thread>

#include "core/base/clock.h"
#include "core/transport/doorbell.h"

namespace ringtree {
namespace {

constexpr int64_t kPatienceNs = 20'000'000'000;
#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kRounds = 5'000;
#else
constexpr uint64_t kRounds = 50'000;
#endif

// One side of a game of ping-pong over the bell alone, as the executor sleeps: announce, look again, sleep.
// False if `target` was not seen in time.
bool sleep_until(Doorbell& bell, const std::atomic<uint64_t>& value, uint64_t target, int64_t deadline_ns) {
  while (value.load(std::memory_order_seq_cst) < target) {
    const uint32_t ticket = bell.announce_sleep();
    if (value.load(std::memory_order_seq_cst) >= target) {
      bell.cancel_sleep();
      return true;
    }
    bell.sleep(ticket, deadline_ns);
    if (now_ns() >= deadline_ns) return value.load(std::memory_order_seq_cst) >= target;
  }
  return true;
}

TEST(Doorbell, no_ring_is_lost_between_two_threads_that_always_sleep) {
  Doorbell bells[2];
  std::atomic<uint64_t> values[2] = {0, 0};
  uint64_t completed[2] = {0, 0};
  const int64_t deadline_ns = now_ns() + kPatienceNs;
  auto play = [&](int self) {
    for (uint64_t round = 1; round <= kRounds; ++round) {
      if (self == 1 && !sleep_until(bells[1], values[0], round, deadline_ns)) return;
      values[self].store(round, std::memory_order_seq_cst);
      bells[1 - self].ring();
      if (self == 0 && !sleep_until(bells[0], values[1], round, deadline_ns)) return;
      completed[self] = round;
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(completed[0], kRounds);
  EXPECT_EQ(completed[1], kRounds);
  EXPECT_LT(now_ns(), deadline_ns);
}

TEST(Doorbell, a_ring_after_the_announcement_ends_the_sleep_at_once) {
  Doorbell bell;
  const uint32_t ticket = bell.announce_sleep();
  bell.ring();
  const int64_t start_ns = now_ns();
  bell.sleep(ticket, start_ns + kPatienceNs);
  EXPECT_LT(now_ns() - start_ns, kPatienceNs / 2);
}

TEST(Doorbell, a_wake_before_the_announcement_is_not_held_over) {
  // What the executor relies on instead: it looks for work after it announced.
  Doorbell bell;
  bell.wake();
  const uint32_t ticket = bell.announce_sleep();
  const int64_t start_ns = now_ns();
  bell.sleep(ticket, start_ns + 3'000'000);
  EXPECT_GE(now_ns() - start_ns, 3'000'000);
}

TEST(Doorbell, sleeps_until_the_absolute_time_and_not_if_it_has_passed) {
  Doorbell bell;
  for (int64_t length_ns : {1'000'000, 20'000'000}) {
    const int64_t until_ns = now_ns() + length_ns;
    bell.sleep(bell.announce_sleep(), until_ns);
    EXPECT_GE(now_ns(), until_ns);
  }
  const int64_t start_ns = now_ns();
  bell.sleep(bell.announce_sleep(), start_ns - 1'000'000'000);
  EXPECT_LT(now_ns() - start_ns, kPatienceNs / 2);
}

TEST(Doorbell, an_awake_owner_is_rung_without_the_kernel_and_keeps_its_ticket) {
  Doorbell bell;
  bell.announce_sleep();
  bell.cancel_sleep();
  bell.ring();  // nobody sleeps: must not change the word, or every publish would cost an atomic addition
  const uint32_t before = bell.announce_sleep();
  bell.cancel_sleep();
  bell.ring();
  EXPECT_EQ(bell.announce_sleep(), before);
}

}  // namespace
}  // namespace ringtree
