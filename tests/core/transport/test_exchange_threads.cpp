// Two sides of an exchange pool in two threads that sleep when they must wait: whatever goes which way, a side whose
// link is not full always has a slot, and what was sent arrives whole and in order. Who owns which slot when is looked
// at in one thread: test_exchange_traffic.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "core/transport/fence.h"
#include "tests/core/transport/exchange_world.h"

namespace ringtree::testing {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kBlocks = 60;
#else
constexpr int kBlocks = 300;
#endif
constexpr uint64_t kBlock = 40;  // messages of a link: several times round

// One side's part: blocks of messages over each link, by turns one way, the other way, both ways.
// Whoever waits for the other's block sends nothing meanwhile, so slots pile up on one side.
class Player {
 public:
  Player(ExchangeWorld& world, size_t side) : world_(world), side_(side), own_(world.sides[side]) {}

  std::string play() {
    std::mt19937 random(static_cast<uint32_t>(side_));
    while (wrong_.empty() && !done()) {
      const bool moved = random() % 2 == 0 ? send_all(random) || receive_all() : receive_all() || send_all(random);
      if (!moved && wrong_.empty() && !sleep_until(own_.bell, world_.fenced, [&] { return can_move(); }))
        return "waited for ever";
    }
    return wrong_;
  }

 private:
  static constexpr uint64_t kMessages = kBlock * kBlocks;

  /// Block `block` of this side's may be sent: 3 i: only side 0 sends, 3 i + 1: only side 1, 3 i + 2: both.
  bool its_turn(uint64_t block) const {
    const bool waits = block % 3 < 2 && (block % 3 == 0) == (side_ == 1);
    uint64_t needed = block / 3 * 3 * kBlock;  // of each of the peer's links: all before this group of three
    if (waits) needed += kBlock * (block % 3 == 0 ? 1 : 2);
    for (const auto& end : own_.recv)
      if (end->next() < std::min(needed, kMessages)) return false;
    return true;
  }

  bool wants_to_send(const SendEnd& end) const { return end.next() < kMessages && its_turn(end.next() / kBlock); }

  bool done() const {
    for (const auto& end : own_.send)
      if (end->next() < kMessages) return false;
    for (const auto& end : own_.recv)
      if (end->next() < kMessages) return false;
    return true;
  }

  bool has_free_slot(size_t link) {
    SendEnd& end = *own_.send[link];
    // What has_free_slot() will see or better: then it must say yes.
    const uint64_t released = world_.reader_of(side_, link)->released.load(std::memory_order_seq_cst);
    const bool has = end.has_free_slot();
    if (!has && end.next() - released < kMaxLinkSlots) wrong_ = "no slot, although its link is not full";
    return has;
  }

  bool can_move() {
    for (size_t link = 0; link < own_.send.size(); ++link)
      if (wants_to_send(*own_.send[link]) && has_free_slot(link)) return true;
    for (const auto& end : own_.recv)
      if (end->next() < kMessages && end->has_message()) return true;
    return !wrong_.empty();
  }

  static size_t size_of(uint64_t message) { return kTestSizes[message * 7 % 11 % std::size(kTestSizes)]; }

  bool send_all(std::mt19937& random) {
    bool moved = false;
    for (size_t link = 0; link < own_.send.size(); ++link)
      for (uint32_t burst = 1 + random() % 8; burst > 0; --burst) {
        SendEnd& end = *own_.send[link];
        if (!wants_to_send(end) || !has_free_slot(link)) break;
        const size_t bytes = size_of(end.next());
        write_words(end.room(bytes), bytes, side_, link, end.next());
        end.publish(static_cast<uint32_t>(end.next()), bytes, 0);
        moved = true;
      }
    return moved;
  }

  bool receive_all() {
    bool moved = false;
    for (size_t link = 0; link < own_.recv.size(); ++link) {
      RecvEnd& end = *own_.recv[link];
      while (end.next() < kMessages && end.has_message()) {
        const size_t bytes = size_of(end.next());
        if (end.locate(bytes) != SharedTable::Found::here || end.fingerprint() != static_cast<uint32_t>(end.next()) ||
            !words_are(end.data(), bytes, 1 - side_, link, end.next()))
          wrong_ = "a message is not what was sent";
        end.take_slot(bytes);
        end.release(false, 0);
        moved = true;
      }
    }
    return moved;
  }

  ExchangeWorld& world_;
  size_t side_;
  ExchangeWorld::Side& own_;
  std::string wrong_;
};

TEST(ExchangeTraffic, two_threads_that_sleep_lose_nothing) {
  for (bool fenced : {true, false}) {
    if (!fenced && !can_fence_everybody()) continue;
    for (const auto& links : kTestLinks) {
      ExchangeWorld world(links, fenced);
      std::array<std::string, 2> wrong;
      std::thread other([&] { wrong[1] = Player(world, 1).play(); });
      wrong[0] = Player(world, 0).play();
      other.join();
      for (size_t side : {0, 1})
        EXPECT_EQ(wrong[side], "") << "side " << side << ", " << links[0] << " and " << links[1] << " links, "
                                   << (fenced ? "fenced" : "not fenced");
      EXPECT_GT(world.num_given(0) + world.num_given(1), 0u) << "else the skew was too small to matter";
    }
  }
}

}  // namespace
}  // namespace ringtree::testing
