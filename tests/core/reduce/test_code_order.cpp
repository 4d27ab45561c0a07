// min and max of narrow floats by their codes: every pair of codes of the one-byte formats, and every code of the
// two-byte ones beside the codes where something changes, against the definition on decoded values. Also that the ranks
// order the codes as a clock, whose hand passes every NaN last. The loops around them are in test_kernels.cpp.
#define RINGTREE_ISA isa_test
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/reduce/code_order.h"
#include "core/reduce/codecs.h"
#include "tests/core/reduce/reference.h"
#include "tests/core/reduce/tested_codec.h"

namespace ringtree {
namespace {

template <class T>
class CodeOrders : public ::testing::Test {
 protected:
  using Codec = typename T::Codec;
  using Code = typename Codec::Storage;
  static constexpr uint32_t kNumCodes = 1u << (8 * sizeof(Code));
  static constexpr uint32_t kSignBit = kNumCodes / 2;

  CodeOrders() {
    for (uint32_t code = 0; code < kNumCodes; ++code) values_.push_back(reference_decode(T::kDtype, code));
  }

  // The later operand wins if it is better, or a NaN that meets a number.
  Code wanted(Code left, Code right, bool max) const {
    const double a = values_[left], b = values_[right];
    if (std::isnan(a)) return left;
    return std::isnan(b) || (max ? b > a : b < a) ? right : left;
  }

  void expect_right(Code left, Code right) const {
    // Of two NaNs either will do.
    if (std::isnan(values_[left]) && std::isnan(values_[right])) return;
    ASSERT_EQ(isa_test::MinOfCodes<Codec>::apply(left, right), wanted(left, right, false)) << +left << " " << +right;
    ASSERT_EQ(isa_test::MaxOfCodes<Codec>::apply(left, right), wanted(left, right, true)) << +left << " " << +right;
  }

  // All for one byte; else zero, the smallest and largest subnormal, one in the middle, the largest number, infinity
  // and the first and last NaN, of both signs.
  std::vector<Code> partners() const {
    std::vector<uint32_t> codes = {0,      1,      0x7F,   0x80,   0x3FF,  0x400, 0x3C00,
                                   0x7BFF, 0x7C00, 0x7C01, 0x7F7F, 0x7F80, 0x7F81};
    codes.push_back(kSignBit - 1);
    if (sizeof(Code) == 1) {
      codes.clear();
      for (uint32_t code = 0; code < kSignBit; ++code) codes.push_back(code);
    }
    std::vector<Code> both_signs;
    for (uint32_t code : codes) {
      both_signs.push_back(static_cast<Code>(code));
      both_signs.push_back(static_cast<Code>(code | kSignBit));
    }
    return both_signs;
  }

  std::vector<double> values_;  // by code
};

using Narrow = ::testing::Types<
    Tested<isa_test::Float16, Dtype::kFloat16>, Tested<isa_test::Bfloat16, Dtype::kBfloat16>,
    Tested<isa_test::Float8E4m3fn, Dtype::kFloat8E4m3fn>, Tested<isa_test::Float8E5m2, Dtype::kFloat8E5m2>,
    Tested<isa_test::Float8E4m3fnuz, Dtype::kFloat8E4m3fnuz>, Tested<isa_test::Float8E5m2fnuz, Dtype::kFloat8E5m2fnuz>>;
TYPED_TEST_SUITE(CodeOrders, Narrow);

TYPED_TEST(CodeOrders, PicksAsTheValuesDo) {
  using Storage = typename TypeParam::Codec::Storage;
  for (const Storage partner : this->partners()) {
    for (uint32_t code = 0; code < this->kNumCodes; ++code) {
      this->expect_right(static_cast<Storage>(code), partner);
      this->expect_right(partner, static_cast<Storage>(code));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CodeOrders, LargestIsTheLastThatIsNoNan) {
  constexpr uint32_t largest = TypeParam::Codec::kLargest;
  EXPECT_FALSE(std::isnan(this->values_[largest]));
  for (uint32_t code = 0; code < largest; ++code) EXPECT_LT(this->values_[code], this->values_[code + 1]);
  for (uint32_t code = largest + 1; code < this->kSignBit; ++code) EXPECT_TRUE(std::isnan(this->values_[code]));
}

}  // namespace
}  // namespace ringtree
