// The radix heap against a sorted list. Not the events that a simulation puts into it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/simulate/event_queue.h"

namespace ringtree {
namespace {

TEST(EventQueue, EarliestFirstAndInOrderOfPushing) {
  std::mt19937_64 random(7);
  EventQueue queue;
  std::vector<SimulatedEvent> waiting;
  uint32_t number = 0;
  for (int i = 0; i < 5000; ++i) {
    if (waiting.empty() || random() % 5 < 3) {
      const int64_t ahead = static_cast<int64_t>(random() % (uint64_t{1} << (random() % 40)));
      waiting.push_back({queue.now() + (random() % 4 == 0 ? 0 : ahead), number++, 0});
      queue.push(waiting.back());
    } else {
      const auto first = std::min_element(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) {
        return std::pair(a.at, a.what) < std::pair(b.at, b.what);
      });
      const SimulatedEvent popped = queue.pop();
      EXPECT_EQ(popped.at, first->at);
      EXPECT_EQ(popped.what, first->what);
      EXPECT_EQ(queue.now(), first->at);
      waiting.erase(first);
    }
    EXPECT_EQ(queue.size(), waiting.size());
    EXPECT_EQ(queue.empty(), waiting.empty());
  }
}

TEST(EventQueue, SaysWhatIsDueNow) {
  EventQueue queue;
  for (uint32_t what : {0u, 1u, 2u}) queue.push({5, what, 0});
  queue.push({6, 3, 0});
  EXPECT_EQ(queue.pop().what, 0u);
  EXPECT_TRUE(queue.more_now());
  ASSERT_NE(queue.upcoming(1), nullptr);
  EXPECT_EQ(queue.upcoming(1)->what, 2u);
  EXPECT_EQ(queue.upcoming(2), nullptr);
  queue.pop();
  queue.pop();
  EXPECT_FALSE(queue.more_now());
  EXPECT_FALSE(queue.empty());
}

}  // namespace
}  // namespace ringtree
