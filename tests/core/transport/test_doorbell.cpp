// The doorbell: a ring wakes a sleeper, a ring between announcing and sleeping is not lost, a deadline ends a sleep.
// Whoever would sleep for ever fails by its deadline, so a lost ring is a failure here and not a hang.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "tests/core/transport/aligned_bytes.h"

namespace ringtree::testing {
namespace {

constexpr int64_t kPatienceNs = 20'000'000'000;
#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kRounds = 5'000;
#else
constexpr uint64_t kRounds = 50'000;
#endif

// A game of ping-pong over the bell alone, as the executor sleeps: announce, look again, sleep. A fenced ringer
// publishes sequentially consistent, one that is not leaves the fence to the sleeper.
void expect_no_ring_is_lost(bool fenced) {
  Doorbell bells[2];
  std::atomic<uint64_t> values[2] = {0, 0};
  uint64_t completed[2] = {0, 0};
  const auto wait_for = [&](int self, uint64_t round) {
    return sleep_until(bells[self], fenced, [&] { return values[1 - self].load(std::memory_order_seq_cst) >= round; });
  };
  auto play = [&](int self) {
    for (uint64_t round = 1; round <= kRounds; ++round) {
      if (self == 1 && !wait_for(1, round)) return;
      values[self].store(round, fenced ? std::memory_order_seq_cst : std::memory_order_release);
      bells[1 - self].ring();
      if (self == 0 && !wait_for(0, round)) return;
      completed[self] = round;
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(completed[0], kRounds);
  EXPECT_EQ(completed[1], kRounds);
}

TEST(Doorbell, no_ring_is_lost_between_two_threads_that_always_sleep) { expect_no_ring_is_lost(true); }

TEST(Doorbell, no_ring_is_lost_where_only_the_sleeper_fences) {
  if (!can_fence_everybody()) GTEST_SKIP() << "this kernel does not fence other threads";
  expect_no_ring_is_lost(false);
}

TEST(Doorbell, registering_for_fences_again_changes_nothing) {
  const bool first = can_fence_everybody();
  std::vector<std::thread> threads;
  std::atomic<int> num_alike{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      num_alike += can_fence_everybody() == first;
      if (first) fence_everybody();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_alike, 4);
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
}  // namespace ringtree::testing
