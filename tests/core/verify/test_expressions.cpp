// Hash-consed expressions against a slow, obvious form of the same: strings and sets.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "core/verify/expressions.h"

namespace ringtree {
namespace {

struct Slow {
  std::string text;
  std::set<int> ranks;
};

TEST(Expressions, AgreeWithStringsAndSets) {
  constexpr int kRanks = 130;  // three words a set
  Expressions expressions(kRanks, 1);
  std::mt19937_64 random(7);
  std::map<Expression, Slow> known;
  std::map<std::string, Expression> by_text;
  for (int rank = 0; rank < kRanks; ++rank) {
    known[expressions.leaf(rank, 0)] = {std::to_string(rank), {rank}};
    by_text[std::to_string(rank)] = expressions.leaf(rank, 0);
  }
  int num_overlaps = 0, num_again = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<Expression> operands;
    Slow slow{"(", {}};
    std::multiset<int> all;
    for (size_t count = 2 + random() % 3; operands.size() < count;) {
      // Mostly few leaves, so that equal folds come again.
      const auto at = random() % 4 == 0 ? random() % known.size() : random() % 12;
      const auto& [id, operand] = *std::next(known.begin(), static_cast<std::ptrdiff_t>(at));
      operands.push_back(id);
      slow.text += operand.text + " ";
      slow.ranks.insert(operand.ranks.begin(), operand.ranks.end());
      all.insert(operand.ranks.begin(), operand.ranks.end());
    }
    const Expression id = expressions.fold(operands);
    if (all.size() != slow.ranks.size()) {
      EXPECT_EQ(id, kNothing);
      EXPECT_GT(all.count(expressions.shared_rank()), 1u);
      ++num_overlaps;
      continue;
    }
    slow.text += ")";
    const auto [entry, is_new] = by_text.try_emplace(slow.text, id);
    EXPECT_EQ(entry->second, id);
    EXPECT_EQ(is_new, known.count(id) == 0);
    num_again += is_new ? 0 : 1;
    EXPECT_EQ(expressions.num_held(id), static_cast<int>(slow.ranks.size()));
    for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(expressions.holds(id, rank), slow.ranks.count(rank) == 1);
    if (known.size() < 600) known[id] = slow;
    if (known.count(id) == 0) by_text.erase(slow.text);
  }
  EXPECT_GT(num_overlaps, 100);
  EXPECT_GT(num_again, 100);
}

TEST(Expressions, OrderAndGroupingMatter) {
  Expressions expressions(3, 4);
  const Expression a = expressions.leaf(0, 2), b = expressions.leaf(1, 2), c = expressions.leaf(2, 2);
  const auto fold = [&](std::vector<Expression> operands) { return expressions.fold(operands); };
  const std::set<Expression> all = {fold({a, b, c}),         fold({c, b, a}),         fold({fold({a, b}), c}),
                                    fold({a, fold({b, c})}), fold({c, fold({a, b})}), fold({a, b})};
  EXPECT_EQ(all.size(), 6u);
  EXPECT_NE(expressions.leaf(0, 1), expressions.leaf(1, 0));
}

}  // namespace
}  // namespace ringtree
