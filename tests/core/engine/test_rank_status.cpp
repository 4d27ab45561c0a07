// The status frame: round trip, what is refused, and what it shows on the page that stands for a rank. Ranks that
// exchange them: test_hosts_failures.cpp.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <random>

#include "core/engine/rank_status.h"

namespace ringtree::testing {
namespace {

CallDescription described_call(uint64_t sequence, size_t kind) {
  CallDescription call;
  call.sequence = sequence;
  call.collective = static_cast<Collective>(kind % std::size(kCollectives));
  call.dtype = static_cast<Dtype>(kind % kNumDtypes);
  call.op = static_cast<ReduceOp>(kind % kNumReduceOps);
  call.protocol = static_cast<Protocol>(kind % kNumProtocols);
  call.root = static_cast<int>(kind * 1000);
  call.count = ~uint64_t{0} - kind;
  call.counts_hash = kind << 40;
  call.plan_key = kind * 0x9e3779b97f4a7c15u;
  call.slice_bytes = 4096 + kind;
  std::snprintf(call.algorithm, sizeof call.algorithm, "a name of %zu", kind);
  return call;
}

RankStatus status_of(size_t num_calls, std::optional<uint64_t> asks) {
  RankStatus status;
  status.completed = 0x0102030405060708;
  status.done_bytes = ~uint64_t{0};
  status.asks = asks;
  status.of_history = num_calls % 2 == 1;
  for (size_t i = 0; i < num_calls; ++i) status.calls.push_back(described_call(i + 1, i * 5 + 3));
  return status;
}

void expect_same_call(const CallDescription& found, const CallDescription& wanted) {
  EXPECT_TRUE(found.same_call(wanted));
  EXPECT_EQ(found.to_string(), wanted.to_string());
  EXPECT_EQ(found.plan_key, wanted.plan_key);
  EXPECT_EQ(found.counts_hash, wanted.counts_hash);
}

TEST(RankStatus, survives_the_round_trip_in_every_field) {
  for (const size_t num_calls : {size_t{0}, size_t{1}, size_t{2}, RankStatus::kMaxCalls})
    for (const std::optional<uint64_t> asks : {std::optional<uint64_t>(), {0}, {77}, {~uint64_t{0}}}) {
      const RankStatus status = status_of(num_calls, asks);
      const std::optional<RankStatus> read = RankStatus::decode(status.encode());
      ASSERT_TRUE(read.has_value());
      EXPECT_EQ(read->completed, status.completed);
      EXPECT_EQ(read->done_bytes, status.done_bytes);
      EXPECT_EQ(read->asks, asks);
      EXPECT_EQ(read->of_history, status.of_history);
      ASSERT_EQ(read->calls.size(), num_calls);
      for (size_t i = 0; i < num_calls; ++i) expect_same_call(read->calls[i], status.calls[i]);
    }
  // Every kind of call.
  for (size_t kind = 0; kind < 60; ++kind) {
    RankStatus status;
    status.calls.push_back(described_call(9, kind));
    const std::optional<RankStatus> read = RankStatus::decode(status.encode());
    ASSERT_TRUE(read.has_value()) << kind;
    expect_same_call(read->calls[0], status.calls[0]);
  }
}

TEST(RankStatus, refuses_every_truncation_and_anything_behind_it) {
  for (size_t num_calls = 0; num_calls <= 3; ++num_calls) {
    const std::string whole = status_of(num_calls, 5).encode();
    for (size_t length = 0; length < whole.size(); ++length)
      EXPECT_FALSE(RankStatus::decode(whole.substr(0, length)).has_value()) << length;
    EXPECT_FALSE(RankStatus::decode(whole + '\0').has_value());
  }
}

TEST(RankStatus, refuses_more_calls_than_there_can_be_and_calls_that_are_none) {
  EXPECT_FALSE(RankStatus::decode(status_of(RankStatus::kMaxCalls + 1, {}).encode()).has_value());
  RankStatus status;
  status.calls.push_back(described_call(0, 1));  // calls count from 1
  EXPECT_FALSE(RankStatus::decode(status.encode()).has_value());
  std::string unknown_flag = RankStatus().encode();
  unknown_flag[16] = 4;
  EXPECT_FALSE(RankStatus::decode(unknown_flag).has_value());
  // The kinds are looked up by their numbers: bytes 34 to 37 of a status with one call.
  const std::string good = status_of(1, {}).encode();
  ASSERT_TRUE(RankStatus::decode(good).has_value());
  for (size_t at = 34; at < 38; ++at) {
    std::string wrong = good;
    wrong[at] = '\x7f';
    EXPECT_FALSE(RankStatus::decode(wrong).has_value()) << at;
  }
}

// A broken decoder reads beyond the end (ASan) or hands out kinds that do not exist.
TEST(RankStatus, random_bytes_are_refused_or_a_status_that_can_be_shown) {
  constexpr unsigned kSeed = 20250802;
  std::printf("[ seed ] %u\n", kSeed);
  std::mt19937 random(kSeed);
  auto page = std::make_unique<RankPage>();
  int num_read = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::string bytes = status_of(random() % 3, random() % 2 ? std::optional<uint64_t>(1) : std::nullopt).encode();
    if (round % 2) {
      for (char& c : bytes) c = static_cast<char>(random());
    } else {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const std::optional<RankStatus> read = RankStatus::decode(bytes);
    if (!read) continue;
    ++num_read;
    ASSERT_LE(read->calls.size(), RankStatus::kMaxCalls);
    read->show_on(*page);
    for (const CallDescription& call : read->calls) {
      ASSERT_NE(call.sequence, 0u);
      ASSERT_LT(call.to_string().size(), 300u);
    }
  }
  EXPECT_GT(num_read, 1'000);  // most changes of one byte are to numbers that mean nothing wrong
}

TEST(RankStatus, of_a_rank_that_has_begun_no_call_can_be_read) {
  const RankPage page;
  for (const std::optional<uint64_t> also : {std::optional<uint64_t>(), {0}, {1}, {64}}) {
    const RankStatus status = RankStatus::of(page, also);
    EXPECT_TRUE(status.calls.empty());
    EXPECT_TRUE(RankStatus::decode(status.encode()).has_value());
  }
}

TEST(RankStatus, shows_a_page_to_another_host) {
  RankPage page, copy;
  for (uint64_t sequence = 1; sequence <= 100; ++sequence)
    page.board.post(sequence, Board::words_of(described_call(sequence, sequence)));
  page.completed.store(99);
  page.done_bytes.store(4096);
  const RankStatus status = RankStatus::of(page, 70);
  ASSERT_EQ(status.calls.size(), 2u);
  status.show_on(copy);
  EXPECT_EQ(copy.completed.load(), 99u);
  EXPECT_EQ(copy.done_bytes.load(), 4096u);
  EXPECT_EQ(copy.board.newest(), 100u);
  for (const uint64_t sequence : {70, 100}) {
    ASSERT_TRUE(copy.board.find(sequence).has_value()) << sequence;
    expect_same_call(*copy.board.find(sequence), described_call(sequence, sequence));
  }
  EXPECT_FALSE(copy.board.find(71).has_value());
  // All that the board shows, up to the call asked for.
  const RankStatus history = RankStatus::of(page, 98, true);
  ASSERT_EQ(history.calls.size(), 63u);  // 37 to 98 and 100
  EXPECT_EQ(history.calls.front().sequence, 37u);
  EXPECT_EQ(RankStatus::decode(history.encode())->calls.size(), 63u);
  history.show_on(copy);
  expect_same_call(*copy.board.find(71), described_call(71, 71));
  EXPECT_EQ(copy.board.newest(), 100u);
  EXPECT_EQ(RankStatus::of(page, 20).calls.size(), 1u);  // overwritten meanwhile
  EXPECT_EQ(RankStatus::of(page, 100).calls.size(), 1u);
  // One that was overtaken takes nothing back.
  RankStatus old = status;
  old.completed = 5;
  old.calls.erase(old.calls.begin() + 1);
  old.show_on(copy);
  EXPECT_EQ(copy.completed.load(), 99u);
  EXPECT_EQ(copy.board.newest(), 100u);
}

TEST(RankStatus, of_a_call_that_nobody_can_have_asked_for_ends) {
  const auto page = std::make_unique<RankPage>();
  for (uint64_t sequence = 1; sequence <= 3; ++sequence)
    page->board.post(sequence, Board::words_of(described_call(sequence, sequence)));
  for (const uint64_t asked : {uint64_t{0}, uint64_t{2}, uint64_t{4}, ~uint64_t{0}, ~uint64_t{0} - 1})
    for (const bool history : {false, true}) {
      const RankStatus status = RankStatus::of(*page, asked, history);
      EXPECT_LE(status.calls.size(), RankStatus::kMaxCalls) << asked;
      EXPECT_EQ(status.calls.back().sequence, 3u) << asked;
      if (asked == 2) {
        EXPECT_EQ(status.calls.front().sequence, history ? 1u : 2u);
      }
    }
}

}  // namespace
}  // namespace ringtree::testing
