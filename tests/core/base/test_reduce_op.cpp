// Tests of the op table: numbers (a wire format, hence written out a second time) and names.
// Not what the ops compute: that is tests/core/reduce.
#include <gtest/gtest.h>

#include "core/base/reduce_op.h"

namespace ringtree {
namespace {

TEST(ReduceOp, NumbersAndNamesAreStable) {
  ASSERT_EQ(kNumReduceOps, 12);
  const char* const expected[] = {"sum",  "prod", "min",  "max",  "avg", "premul_sum",
                                  "band", "bor",  "bxor", "land", "lor", "lxor"};
  for (int number = 0; number < kNumReduceOps; ++number) {
    const auto op = static_cast<ReduceOp>(number);
    EXPECT_EQ(kReduceOps[number], op);
    EXPECT_STREQ(reduce_op_name(op), expected[number]);
    EXPECT_EQ(reduce_op_from_name(expected[number]), op);
  }
}

TEST(ReduceOp, UnknownNamesAreNotGuessed) {
  for (const char* name : {"", "SUM", "sum ", "mean", "average", "product", "and", "BAND", "premulsum"})
    EXPECT_EQ(reduce_op_from_name(name), std::nullopt) << name;
}

}  // namespace
}  // namespace ringtree
