// Two sides of an exchange pool at work, at random, with a book of every slot's owner: whatever goes which way, a side
// whose link is not full always has a slot, no slot belongs to two at once, and what was sent arrives. A pool that
// keeps more than it may must get stuck. One thread: test_exchange_threads.cpp has two. The rules one by one:
// test_exchange_pool.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/core/transport/exchange_world.h"

namespace ringtree::testing {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kSteps = 20'000;
#else
constexpr int kSteps = 100'000;
#endif
constexpr int kStepsAtMost = 1'000'000;  // until what must go wrong does

/// Who owns each slot, found out from what can be seen: messages and what is given back.
class Owners {
 public:
  explicit Owners(ExchangeWorld& world) : world_(world), owner_(static_cast<size_t>(world.pool.num_slots)) {
    for (size_t slot = 0; slot < owner_.size(); ++slot) owner_[slot] = slot < owner_.size() / 2 ? 0 : 1;
  }
  /// "" or what is wrong.
  std::string sends(size_t side, int slot) {
    if (owner_of(slot) != static_cast<int>(side)) return "sends in a slot that is not its own";
    owner_of(slot) = kUnderWay;
    return "";
  }
  std::string receives(size_t side, int slot) {
    if (owner_of(slot) != kUnderWay) return "receives in a slot that carries nothing";
    owner_of(slot) = static_cast<int>(side);
    return "";
  }
  /// After a release: slots that `side` gave back are the other's.
  std::string gives_back(size_t side) {
    for (; seen_[side] < world_.num_given(side); ++seen_[side]) {
      const int slot = world_.entries_of(side)[seen_[side] % owner_.size()];
      if (owner_of(slot) != static_cast<int>(side)) return "gives back a slot that is not its own";
      if (!world_.sides[side].books->is_foreign(slot)) return "gives back a slot that is at home with it";
      owner_of(slot) = 1 - static_cast<int>(side);
    }
    return "";
  }
  int num_of(int owner) const { return static_cast<int>(std::count(owner_.begin(), owner_.end(), owner)); }

  static constexpr int kUnderWay = 2;

 private:
  int& owner_of(int slot) { return owner_[static_cast<size_t>(slot)]; }

  ExchangeWorld& world_;
  std::vector<int> owner_;
  std::array<uint64_t, 2> seen_{};
};

/// Steps in random order; each knows what must be possible. Phases last a while, so that slots pile up on one side.
class Simulation {
 public:
  Simulation(ExchangeWorld& world, uint32_t seed) : world_(world), owners_(world), random_(seed) {
    for (size_t side = 0; side < 2; ++side) sizes_[side].resize(static_cast<size_t>(world.num_links[side]));
  }

  /// "" or what went wrong first.
  std::string run(int num_steps) {
    for (int step = 0; step < num_steps && wrong_.empty(); ++step) {
      if (step % 200 == 0) begin_phase();
      const size_t side = pick(2);
      const unsigned dice = static_cast<unsigned>(pick(100));
      if (dice < sends_[side]) {
        send(side);
      } else if (dice < sends_[side] + receives_[side]) {
        receive(side);
      } else if (dice < sends_[side] + receives_[side] + 10 && sends_[side] > 0) {
        answer(side);
      }
      if (!wrong_.empty()) wrong_ = "side " + std::to_string(side) + ", step " + std::to_string(step) + ": " + wrong_;
    }
    if (wrong_.empty()) finish();
    return wrong_;
  }

 private:
  size_t pick(size_t count) { return static_cast<size_t>(random_() % count); }

  // In percent of a side's steps. One side alone, both, a burst that nobody receives, one that only receives.
  void begin_phase() {
    static constexpr std::array<std::array<unsigned, 2>, 6> kMixes = {
        {{0, 90}, {45, 45}, {70, 20}, {20, 70}, {90, 0}, {30, 60}}};
    for (size_t side = 0; side < 2; ++side) {
      const auto& mix = kMixes[pick(kMixes.size())];
      sends_[side] = mix[0];
      receives_[side] = mix[1];
    }
    large_only_ = pick(2) == 0;
  }

  /// Whether the link can take a message, which must be so exactly if it carries fewer than eight.
  bool may_send(size_t side, size_t link) {
    const bool has = world_.sides[side].send[link]->has_free_slot(), must = sizes_[side][link].size() < kMaxLinkSlots;
    if (has && !must) wrong_ = "more messages under way than a link carries";
    if (!has && must) wrong_ = "no slot, although its link is not full";
    return has && must;
  }

  void send(size_t side) {
    const size_t link = pick(sizes_[side].size());
    if (may_send(side, link))
      publish(side, link, large_only_ ? kTestSlotBytes : kTestSizes[pick(std::size(kTestSizes))]);
  }

  void publish(size_t side, size_t link, size_t bytes) {
    SendEnd& end = *world_.sides[side].send[link];
    write_words(end.room(bytes), bytes, side, link, end.next());
    if (bytes > kInlineBytes) wrong_ = owners_.sends(side, end.slot_index());
    end.publish(static_cast<uint32_t>(end.next()), bytes, 0);
    sizes_[side][link].push_back(bytes);
  }

  RecvEnd* arrived(size_t side, size_t link, size_t& bytes) {
    auto& sizes = sizes_[1 - side][link];
    RecvEnd& end = *world_.sides[side].recv[link];
    if (end.has_message() != !sizes.empty()) wrong_ = "a message is lost or made up";
    if (sizes.empty() || !wrong_.empty()) return nullptr;
    bytes = sizes.front();
    sizes.erase(sizes.begin());
    if (end.locate(bytes) != SharedTable::Found::here || end.fingerprint() != static_cast<uint32_t>(end.next()) ||
        !words_are(end.data(), bytes, 1 - side, link, end.next()))
      wrong_ = "a message is not what was sent";
    if (end.becomes_ours() != (bytes > kInlineBytes)) wrong_ = "a message lies where it should not";
    if (wrong_.empty() && end.becomes_ours()) wrong_ = owners_.receives(side, end.slot_index());
    end.take_slot(bytes);
    return &end;
  }

  void release(size_t side, RecvEnd& end) {
    end.release(false, 0);
    if (wrong_.empty()) wrong_ = owners_.gives_back(side);
    if (world_.sides[side].books->num_free() > owners_.num_of(static_cast<int>(side))) wrong_ = "has slots twice";
  }

  void receive(size_t side) {
    size_t bytes = 0;
    if (RecvEnd* end = arrived(side, pick(sizes_[1 - side].size()), bytes)) release(side, *end);
  }

  void answer(size_t side) {
    const size_t from = pick(sizes_[1 - side].size()), to = pick(sizes_[side].size());
    if (sizes_[1 - side][from].empty() || !may_send(side, to)) return;
    size_t bytes = 0;
    RecvEnd* const end = arrived(side, from, bytes);
    if (!end || !wrong_.empty()) return;
    if (bytes > kInlineBytes && world_.sides[side].send[to]->room(bytes) != end->data())
      wrong_ = "does not answer in the slot that arrived";
    if (wrong_.empty()) publish(side, to, bytes);
    release(side, *end);
  }

  /// All that is under way arrives, and all slots are still there.
  void finish() {
    for (size_t side = 0; side < 2; ++side)
      for (size_t link = 0; link < sizes_[1 - side].size(); ++link)
        while (!sizes_[1 - side][link].empty() && wrong_.empty()) {
          size_t bytes = 0;
          if (RecvEnd* end = arrived(side, link, bytes)) release(side, *end);
        }
    if (wrong_.empty() && owners_.num_of(Owners::kUnderWay) != 0) wrong_ = "a slot is lost";
  }

  ExchangeWorld& world_;
  Owners owners_;
  std::mt19937 random_;
  std::array<std::vector<std::vector<size_t>>, 2> sizes_;  // of the messages under way, by side and link
  std::array<unsigned, 2> sends_{}, receives_{};
  bool large_only_ = false;
  std::string wrong_;
};

TEST(ExchangeTraffic, a_link_that_is_not_full_has_a_slot_whatever_went_before) {
  for (const auto& links : kTestLinks)
    for (uint32_t seed = 1; seed <= 3; ++seed) {
      ExchangeWorld world(links);
      EXPECT_EQ(Simulation(world, seed).run(kSteps), "") << links[0] << " and " << links[1] << " links, seed " << seed;
    }
}

// The limit is tight: with one more the argument fails, and so do the sides that play it.
TEST(ExchangeTraffic, a_side_that_keeps_more_than_its_limit_leaves_the_other_without_a_slot) {
  for (const auto& links : kTestLinks)
    for (size_t greedy : {0, 1})
      for (int more : {1, pool_slots(links[0], links[1])}) {
        std::array limits = {links[0] * 8, links[1] * 8};
        limits[greedy] += more;
        ExchangeWorld world(links, true, limits);
        const std::string wrong = Simulation(world, 1).run(kStepsAtMost);
        EXPECT_NE(wrong.find("side " + std::to_string(1 - greedy)), std::string::npos) << wrong;
        EXPECT_NE(wrong.find("no slot, although its link is not full"), std::string::npos)
            << links[0] << " and " << links[1] << " links, limit + " << more << " on side " << greedy << ": " << wrong;
      }
}

}  // namespace
}  // namespace ringtree::testing
