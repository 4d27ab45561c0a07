// A failure as the payload of an abort message, which may come from anybody who speaks the protocol.
#include <gtest/gtest.h>

#include <numeric>

#include "core/engine/failure.h"

namespace ringtree::testing {
namespace {

TEST(Failure, survives_the_round_trip) {
  for (const auto& ranks : {std::vector<int>{}, {0}, {1, 3}}) {
    const std::optional<Failure> read = Failure::decode(Failure{FailureKind::peer, "rank 3 died", ranks}.encode(), 4);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, FailureKind::peer);
    EXPECT_EQ(read->text, "rank 3 died");
    EXPECT_EQ(read->ranks, ranks);
  }
}

TEST(Failure, of_ranks_that_are_not_of_this_world_nothing_is_kept) {
  const std::string payload = Failure{FailureKind::peer, "died", {1, 4, -1}}.encode();
  EXPECT_EQ(Failure::decode(payload, 4)->ranks, std::vector<int>{1});
}

TEST(Failure, of_very_many_ranks_the_first_are_told) {
  std::vector<int> many(Failure::kMaxRanks + 1);
  std::iota(many.begin(), many.end(), 0);
  const std::string payload = Failure{FailureKind::peer, "they died", many}.encode();
  many.pop_back();
  const std::optional<Failure> read = Failure::decode(payload, 1 << 20);
  EXPECT_EQ(read->ranks, many);
  EXPECT_EQ(read->text, "they died");
}

TEST(Failure, what_is_none_is_refused) {
  const std::string whole = Failure{FailureKind::peer, "", {1, 2}}.encode();
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(Failure::decode(whole.substr(0, bytes), 4)) << bytes;
  EXPECT_FALSE(Failure::decode(std::string("\x05\0\0\0\0", 5), 4)) << "no such kind";
  EXPECT_FALSE(Failure::decode(std::string("\0\xff\xff\xff\xff", 5), 4)) << "more ranks than it has";
}

}  // namespace
}  // namespace ringtree::testing
