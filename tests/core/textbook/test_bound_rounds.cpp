// Where messages and operands lie: no copies that are not needed, temporaries used again, the same places in a mailbox
// at both ends.
#include <gtest/gtest.h>

#include <map>

#include "core/textbook/bound_rounds.h"
#include "tests/core/textbook/group_threads.h"

namespace ringtree::textbook::testing {
namespace {

constexpr size_t kItem = 8;

BoundRounds ring(int num_ranks, int rank, size_t count, bool fused) {
  return bind_rounds(by_name("ring", num_ranks), rank, count, kItem, fused);
}

TEST(BoundRounds, of_a_ring_take_temporaries_for_what_is_folded_only) {
  constexpr int kRanks = 5;
  constexpr size_t kChunk = 64;  // elements
  const BoundRounds bound = ring(kRanks, 0, kChunk * kRanks, false);
  ASSERT_EQ(bound.rounds.size(), 1u + 2 * (kRanks - 1));
  int num_temporaries = 0, num_in_place = 0;
  for (const BoundRound& round : bound.rounds)
    for (const BoundMessage& message : round.recvs) {
      EXPECT_EQ(message.bytes, kChunk * kItem);
      ++(message.spot.buffer == Buffer::scratch ? num_temporaries : num_in_place);
    }
  EXPECT_EQ(num_temporaries, kRanks - 1);  // what is reduced; what is gathered is received where it belongs
  EXPECT_EQ(num_in_place, kRanks - 1);
  // What arrives, what it is folded into, and what is still on its way to the right.
  EXPECT_EQ(bound.scratch_bytes, 3 * kChunk * kItem);
}

TEST(BoundRounds, fused_take_no_temporary_for_a_ring) {
  const BoundRounds bound = ring(4, 1, 4'000, true);
  EXPECT_EQ(bound.scratch_bytes, 0u);
  for (size_t i = 0; i < bound.rounds.size(); ++i) {
    const BoundRound& round = bound.rounds[i];
    size_t num_leaving = 0;
    for (const BoundStep& step : round.steps) {
      num_leaving += step.leaving.size();
      for (const Arrived& arrived : step.arrived) EXPECT_GE(arrived.message, 0);
    }
    EXPECT_EQ(num_leaving, i + 1 < bound.rounds.size() ? bound.rounds[i + 1].sends.size() : 0u);
  }
}

TEST(BoundRounds, leave_empty_messages_out) {
  size_t num_messages = 0;
  for (int rank = 0; rank < 4; ++rank)
    for (const BoundRound& round : ring(4, rank, 2, false).rounds) {
      num_messages += round.sends.size();
      for (const BoundMessage& message : round.sends) EXPECT_EQ(message.bytes, kItem);
    }
  EXPECT_EQ(num_messages, 2u * 3 * 2);  // two chunks of one element, each sent 2 (n - 1) times
}

TEST(BoundRounds, give_a_message_the_same_place_at_both_ends) {
  constexpr int kRanks = 6;
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.supports(Collective::all_reduce)) continue;
    const Schedule schedule = by_name(algorithm.name, kRanks);
    std::vector<BoundRounds> all;
    for (int rank = 0; rank < kRanks; ++rank) all.push_back(bind_rounds(schedule, rank, 1'003, kItem, true));
    // (round, from, to) -> (letter, place, bytes) of each message
    using Found = std::map<std::tuple<size_t, int, int>, std::vector<std::tuple<int, size_t, size_t>>>;
    Found sent, heard;
    for (int rank = 0; rank < kRanks; ++rank)
      for (size_t i = 0; i < all[static_cast<size_t>(rank)].rounds.size(); ++i) {
        const BoundRound& round = all[static_cast<size_t>(rank)].rounds[i];
        for (const BoundMessage& one : round.sends)
          sent[{i, rank, one.peer}].emplace_back(one.letter, one.mail_at, one.bytes);
        for (const BoundMessage& one : round.recvs)
          heard[{i, one.peer, rank}].emplace_back(one.letter, one.mail_at, one.bytes);
      }
    EXPECT_EQ(sent, heard) << algorithm.name;
    for (int rank = 0; rank < kRanks; ++rank)
      for (int peer = 0; peer < kRanks; ++peer) {
        const MailNeed &out = all[static_cast<size_t>(rank)].sending[static_cast<size_t>(peer)],
                       &in = all[static_cast<size_t>(peer)].hearing[static_cast<size_t>(rank)];
        EXPECT_EQ(out.num_letters, in.num_letters);
        EXPECT_EQ(out.bytes, in.bytes);
      }
  }
}

TEST(BoundRounds, join_chunks_that_lie_together) {
  // The two halves of halving-doubling are runs of chunks: one piece each.
  const BoundRounds bound = bind_rounds(by_name("halving_doubling", 4), 0, 4'000, kItem, false);
  for (const BoundRound& round : bound.rounds)
    for (const BoundStep& step : round.steps) EXPECT_EQ(step.pieces.size(), 1u);
}

}  // namespace
}  // namespace ringtree::textbook::testing
