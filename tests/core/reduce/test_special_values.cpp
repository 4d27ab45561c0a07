// Values whose results are known without a reference: NaN, infinities, signed zeros, wrapping, rounding once, the
// direction of avg's rounding. For every table that this processor can run. Bits and truth values are in
// test_truth.cpp.
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <vector>

#include "tests/core/reduce/check_fold.h"
#include "tests/core/reduce/kernel_table_test.h"

namespace ringtree {
namespace {

using testing_reduce::float_at;
using testing_reduce::put_float;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class SpecialValues : public testing_reduce::KernelTableTest {};

constexpr ReduceOp kArithmetic[] = {ReduceOp::sum, ReduceOp::prod, ReduceOp::min,
                                    ReduceOp::max, ReduceOp::avg,  ReduceOp::premul_sum};

constexpr Dtype kRealFloats[] = {Dtype::kFloat16,        Dtype::kBfloat16,      Dtype::kFloat32,
                                 Dtype::kFloat64,        Dtype::kFloat8E4m3fn,  Dtype::kFloat8E5m2,
                                 Dtype::kFloat8E4m3fnuz, Dtype::kFloat8E5m2fnuz};

// Not the logical ops: there NaN is a truth value.
TEST_P(SpecialValues, NanIsNeverLost) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr size_t kCount = 70;
  for (Dtype dtype : kRealFloats) {
    for (ReduceOp op : kArithmetic) {
      for (int num_in : {2, 3, 5}) {
        for (int nan_in = 0; nan_in < num_in; ++nan_in) {
          // Input nan_in has a NaN at every third place; the others hold numbers on both sides of each other.
          std::vector<testing_reduce::Bytes> inputs(num_in, testing_reduce::Bytes(kCount * item_size(dtype)));
          std::vector<const void*> in;
          for (int k = 0; k < num_in; ++k)
            for (size_t i = 0; i < kCount; ++i)
              put_float(dtype, &inputs[k][i * item_size(dtype)],
                        k == nan_in && i % 3 == 0 ? nan : (i % 2 ? k + 1 : -k - 1));
          for (const auto& input : inputs) in.push_back(input.data());
          testing_reduce::Bytes out(kCount * item_size(dtype));
          fold_of(dtype, op)(out.data(), in.data(), num_in, kCount);
          for (size_t i = 0; i < kCount; ++i)
            ASSERT_EQ(std::isnan(float_at(dtype, &out[i * item_size(dtype)])), i % 3 == 0)
                << dtype_name(dtype) << " " << reduce_op_name(op) << " input " << nan_in << " of " << num_in
                << " element " << i;
        }
      }
    }
  }
}

TEST_P(SpecialValues, ZerosAreEqualAndTheEarliestStays) {
  for (ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    EXPECT_TRUE(std::signbit(fold<float>(Dtype::kFloat32, op, {-0.0f, 0.0f})));
    EXPECT_FALSE(std::signbit(fold<float>(Dtype::kFloat32, op, {0.0f, -0.0f, -0.0f})));
    EXPECT_TRUE(std::signbit(fold<double>(Dtype::kFloat64, op, {-0.0, 0.0, 0.0})));
    EXPECT_EQ(fold<uint16_t>(Dtype::kFloat16, op, {0x8000, 0x0000}), 0x8000);
    EXPECT_EQ(fold<uint16_t>(Dtype::kBfloat16, op, {0x0000, 0x8000}), 0x0000);
  }
  EXPECT_FALSE(std::signbit(fold<float>(Dtype::kFloat32, ReduceOp::sum, {-0.0f, 0.0f})));
  EXPECT_TRUE(std::signbit(fold<float>(Dtype::kFloat32, ReduceOp::sum, {-0.0f, -0.0f})));
}

TEST_P(SpecialValues, InfinitiesAndOverflow) {
  EXPECT_TRUE(std::isnan(fold<float>(Dtype::kFloat32, ReduceOp::sum, {kInfinity, -kInfinity})));
  EXPECT_TRUE(std::isnan(fold<float>(Dtype::kFloat32, ReduceOp::prod, {kInfinity, 0.0f})));
  EXPECT_EQ(fold<float>(Dtype::kFloat32, ReduceOp::min, {1.0f, -kInfinity}), -kInfinity);
  EXPECT_EQ(fold<uint16_t>(Dtype::kFloat16, ReduceOp::sum, {0x7BFF, 0x7BFF}), 0x7C00);   // 65504 + 65504
  EXPECT_EQ(fold<uint16_t>(Dtype::kBfloat16, ReduceOp::sum, {0xFF7F, 0xFF7F}), 0xFF80);  // twice the lowest
  EXPECT_EQ(fold<uint8_t>(Dtype::kFloat8E5m2, ReduceOp::sum, {0x7B, 0x7B}), 0x7C);       // 57344 + 57344: infinity
  EXPECT_EQ(fold<uint8_t>(Dtype::kFloat8E4m3fn, ReduceOp::sum, {0x7E, 0x7E}), 0x7E);     // 448 + 448: stays at 448
  EXPECT_EQ(fold<uint8_t>(Dtype::kFloat8E4m3fnuz, ReduceOp::sum, {0x7F, 0x7F}), 0x80);   // 240 + 240: NaN
  EXPECT_EQ(fold<uint8_t>(Dtype::kFloat8E5m2fnuz, ReduceOp::sum, {0xFF, 0xFF}), 0x80);   // -57344 - 57344: NaN
}

TEST_P(SpecialValues, IntegersWrap) {
  EXPECT_EQ(fold<int8_t>(Dtype::kInt8, ReduceOp::sum, {127, 1}), -128);
  EXPECT_EQ(fold<int32_t>(Dtype::kInt32, ReduceOp::sum, {INT32_MAX, 1}), INT32_MIN);
  EXPECT_EQ(fold<int64_t>(Dtype::kInt64, ReduceOp::sum, {INT64_MIN, -1}), INT64_MAX);
  EXPECT_EQ(fold<int64_t>(Dtype::kInt64, ReduceOp::prod, {INT64_MIN, -1}), INT64_MIN);
  EXPECT_EQ(fold<uint16_t>(Dtype::kUint16, ReduceOp::prod, {65535, 65535}), 1);  // would overflow int
  EXPECT_EQ(fold<uint64_t>(Dtype::kUint64, ReduceOp::sum, {UINT64_MAX, 2, 3}), 4u);
  EXPECT_EQ(fold<int16_t>(Dtype::kInt16, ReduceOp::min, {1, -1}), -1);
  EXPECT_EQ(fold<uint16_t>(Dtype::kUint16, ReduceOp::min, {1, 65535}), 1);
}

// 256 + 1 is half-way between two bfloat16 and goes back to 256: rounding after each addition would lose every 1.
TEST_P(SpecialValues, NarrowFloatsAreRoundedOnce) {
  const uint16_t big = 0x4380, one = 0x3F80;  // 256, 1
  EXPECT_EQ(fold<uint16_t>(Dtype::kBfloat16, ReduceOp::sum, {big, one}), big);
  EXPECT_EQ(fold<uint16_t>(Dtype::kBfloat16, ReduceOp::sum, {big, one, one}), big + 1);         // 258
  EXPECT_EQ(fold<uint16_t>(Dtype::kBfloat16, ReduceOp::sum, {big, one, one, one}), big + 2);    // 259 -> 260, even
  EXPECT_EQ(fold<uint16_t>(Dtype::kFloat16, ReduceOp::sum, {0x6800, 0x3C00, 0x3C00}), 0x6801);  // 2048 + 1 + 1
}

TEST_P(SpecialValues, ProductsAreNotFused) {
  // (1 + e)(1 - e) differs from 1 by e^2, which is lost when the product is rounded, as it must be, before 1 * 1 is
  // subtracted or is subtracted from 1 * 1. Either of the two products could have been the fused one.
  const float e = std::ldexp(1.0f, -13);
  using Pair = std::complex<float>;
  const Pair zero_real[][2] = {{Pair(1 + e, 1), Pair(1 - e, 1)}, {Pair(1, 1 + e), Pair(1, 1 - e)}};
  const Pair zero_imag[][2] = {{Pair(1 + e, -1), Pair(1, 1 - e)}, {Pair(-1, 1 + e), Pair(1 - e, 1)}};
  const Pair one(1, 0);  // as an outer operand: more than two take other loops
  for (const auto& [left, right] : zero_real) {
    EXPECT_EQ(fold<Pair>(Dtype::kComplex64, ReduceOp::prod, {left, right}).real(), 0.0f);
    EXPECT_EQ(fold<Pair>(Dtype::kComplex64, ReduceOp::prod, {one, left, right, one}).real(), 0.0f);
  }
  for (const auto& [left, right] : zero_imag) {
    EXPECT_EQ(fold<Pair>(Dtype::kComplex64, ReduceOp::prod, {left, right}).imag(), 0.0f);
    EXPECT_EQ(fold<Pair>(Dtype::kComplex64, ReduceOp::prod, {one, left, right, one}).imag(), 0.0f);
  }
  EXPECT_EQ(fold<Pair>(Dtype::kComplex64, ReduceOp::prod, {Pair(1, 2), Pair(3, 4)}), Pair(-5, 10));
}

TEST_P(SpecialValues, AvgTruncatesIntegersTowardsZero) {
  EXPECT_EQ(finish<int32_t>(Dtype::kInt32, -7, 2), -3);
  EXPECT_EQ(finish<int32_t>(Dtype::kInt32, 7, 2), 3);
  EXPECT_EQ(finish<int8_t>(Dtype::kInt8, -128, 300), 0);  // more ranks than the type can hold
  EXPECT_EQ(finish<int64_t>(Dtype::kInt64, INT64_MIN, 1), INT64_MIN);
  EXPECT_EQ(finish<uint64_t>(Dtype::kUint64, UINT64_MAX, 2), UINT64_MAX / 2);
  EXPECT_EQ(finish<float>(Dtype::kFloat32, 1.0f, 3), 1.0f / 3.0f);
  EXPECT_EQ(finish<double>(Dtype::kFloat64, 1.0, 49), 1.0 / 49.0);   // 1 * (1/49) rounds differently
  EXPECT_EQ(finish<uint16_t>(Dtype::kBfloat16, 0x40E0, 2), 0x4060);  // 7 / 2 = 3.5
}

RINGTREE_FOR_EACH_TABLE(SpecialValues);

}  // namespace
}  // namespace ringtree
