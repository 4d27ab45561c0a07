// The bitwise and the logical ops on values whose results are known without a reference: bits of integers, and what is
// true, false and 1 in each dtype. For every table that this processor can run; whole vectors are in test_kernels.cpp.
#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/reduce/kernel_table_test.h"

namespace ringtree {
namespace {

class BitsAndTruth : public testing_reduce::KernelTableTest {};

TEST_P(BitsAndTruth, AnyNonZeroByteIsTrue) {
  for (ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::bor, ReduceOp::lor}) {
    EXPECT_EQ(fold<uint8_t>(Dtype::kBool, op, {0, 0}), 0);
    EXPECT_EQ(fold<uint8_t>(Dtype::kBool, op, {0, 2, 0}), 1);
    EXPECT_EQ(fold<uint8_t>(Dtype::kBool, op, {255, 1}), 1);
  }
  for (ReduceOp op : {ReduceOp::prod, ReduceOp::min, ReduceOp::band, ReduceOp::land}) {
    EXPECT_EQ(fold<uint8_t>(Dtype::kBool, op, {2, 4}), 1);  // 2 & 4 would be 0
    EXPECT_EQ(fold<uint8_t>(Dtype::kBool, op, {16, 16, 255}), 1);
    EXPECT_EQ(fold<uint8_t>(Dtype::kBool, op, {1, 0, 1}), 0);
  }
  for (ReduceOp op : {ReduceOp::bxor, ReduceOp::lxor}) {
    EXPECT_EQ(fold<uint8_t>(Dtype::kBool, op, {2, 4}), 0);  // 2 ^ 4 would be 6
    EXPECT_EQ(fold<uint8_t>(Dtype::kBool, op, {255, 0}), 1);
    EXPECT_EQ(fold<uint8_t>(Dtype::kBool, op, {1, 8, 128}), 1);
  }
}

TEST_P(BitsAndTruth, BitsOfIntegers) {
  EXPECT_EQ(fold<int8_t>(Dtype::kInt8, ReduceOp::band, {-1, 0x55, 0x0F}), 0x05);
  EXPECT_EQ(fold<uint8_t>(Dtype::kUint8, ReduceOp::bor, {0x80, 0x01}), 0x81);
  EXPECT_EQ(fold<int16_t>(Dtype::kInt16, ReduceOp::bxor, {0x0FF0, 0x00FF}), 0x0F0F);
  EXPECT_EQ(fold<uint16_t>(Dtype::kUint16, ReduceOp::band, {0xFF00, 0x0FF0}), 0x0F00);
  EXPECT_EQ(fold<int32_t>(Dtype::kInt32, ReduceOp::bxor, {-1, INT32_MAX}), INT32_MIN);
  EXPECT_EQ(fold<uint32_t>(Dtype::kUint32, ReduceOp::bor, {0xF0000000u, 0x1u, 0x2u}), 0xF0000003u);
  EXPECT_EQ(fold<int64_t>(Dtype::kInt64, ReduceOp::band, {INT64_MIN, -1}), INT64_MIN);
  EXPECT_EQ(fold<uint64_t>(Dtype::kUint64, ReduceOp::bxor, {UINT64_MAX, 1, 1}), UINT64_MAX);
}

// What stores -0, 1 and a NaN, by IEEE 754 and the papers that codecs.h names.
struct FloatCodes {
  Dtype dtype;
  uint64_t minus_zero, one, nan;
};
constexpr FloatCodes kFloatCodes[] = {
    {Dtype::kFloat16, 0x8000, 0x3C00, 0x7E00},
    {Dtype::kBfloat16, 0x8000, 0x3F80, 0xFFC0},
    {Dtype::kFloat32, 0x80000000, 0x3F800000, 0x7FC00000},
    {Dtype::kFloat64, 0x8000000000000000, 0x3FF0000000000000, 0xFFF8000000000000},
    {Dtype::kFloat8E4m3fn, 0x80, 0x38, 0x7F},
    {Dtype::kFloat8E5m2, 0x80, 0x3C, 0xFE},
    {Dtype::kFloat8E4m3fnuz, 0, 0x40, 0x80},  // fnuz: no -0, the lone NaN has its code
    {Dtype::kFloat8E5m2fnuz, 0, 0x40, 0x80},
};

TEST_P(BitsAndTruth, TruthOfFloats) {
  for (const FloatCodes& codes : kFloatCodes) {
    // Little-endian, so that the low bytes of a code are its storage.
    const auto truth = [&](ReduceOp op, const std::vector<uint64_t>& operands) -> uint64_t {
      const size_t item = item_size(codes.dtype);
      if (item == 1) return fold<uint8_t>(codes.dtype, op, std::vector<uint8_t>(operands.begin(), operands.end()));
      if (item == 2) return fold<uint16_t>(codes.dtype, op, std::vector<uint16_t>(operands.begin(), operands.end()));
      if (item == 4) return fold<uint32_t>(codes.dtype, op, std::vector<uint32_t>(operands.begin(), operands.end()));
      return fold<uint64_t>(codes.dtype, op, operands);
    };
    const uint64_t smallest = 1;  // subnormal
    const std::string name = dtype_name(codes.dtype);
    EXPECT_EQ(truth(ReduceOp::land, {codes.one, smallest, codes.nan}), codes.one) << name;
    EXPECT_EQ(truth(ReduceOp::land, {codes.one, codes.minus_zero}), 0u) << name;
    EXPECT_EQ(truth(ReduceOp::land, {0, codes.nan, codes.nan}), 0u) << name;
    EXPECT_EQ(truth(ReduceOp::lor, {codes.minus_zero, codes.minus_zero}), 0u) << name;
    EXPECT_EQ(truth(ReduceOp::lor, {0, smallest, codes.minus_zero}), codes.one) << name;
    EXPECT_EQ(truth(ReduceOp::lor, {0, codes.nan}), codes.one) << name;
    EXPECT_EQ(truth(ReduceOp::lxor, {smallest, codes.nan}), 0u) << name;
    EXPECT_EQ(truth(ReduceOp::lxor, {smallest, codes.nan, codes.one}), codes.one) << name;
    EXPECT_EQ(truth(ReduceOp::lxor, {codes.minus_zero, smallest}), codes.one) << name;
  }
}

TEST_P(BitsAndTruth, TruthOfIntegersAndComplexNumbers) {
  EXPECT_EQ(fold<int32_t>(Dtype::kInt32, ReduceOp::land, {2, 4}), 1);
  EXPECT_EQ(fold<int64_t>(Dtype::kInt64, ReduceOp::lor, {0, INT64_MIN}), 1);
  EXPECT_EQ(fold<uint16_t>(Dtype::kUint16, ReduceOp::lxor, {0x0100, 0x0001}), 0);
  EXPECT_EQ(fold<int8_t>(Dtype::kInt8, ReduceOp::lxor, {-128, 3, 1}), 1);
  using Pair = std::complex<float>;
  const Pair one(1, 0), zero(0, 0);
  EXPECT_EQ(fold<Pair>(Dtype::kComplex64, ReduceOp::land, {Pair(0, 5), Pair(2, 0)}), one);
  EXPECT_EQ(fold<Pair>(Dtype::kComplex64, ReduceOp::lor, {Pair(-0.0f, 0), Pair(0, -0.0f)}), zero);
  EXPECT_EQ(fold<Pair>(Dtype::kComplex64, ReduceOp::lxor, {Pair(1, 1), Pair(0, 1), Pair(1, 0)}), one);
  using Wide = std::complex<double>;
  EXPECT_EQ(fold<Wide>(Dtype::kComplex128, ReduceOp::land, {Wide(0, 1e-320), Wide(1, 0)}), Wide(1, 0));
}

// Ranks fold in groups: results are folded again, beside inputs that were not folded yet.
TEST_P(BitsAndTruth, FoldedTruthValuesFoldAgain) {
  for (unsigned pattern = 0; pattern < 16; ++pattern) {
    std::vector<float> in;
    for (unsigned k = 0; k < 4; ++k) in.push_back((pattern >> k & 1) != 0 ? static_cast<float>(k) - 7.5f : -0.0f);
    const bool is_odd = std::popcount(pattern) % 2 == 1;
    for (const auto& [op, is_true] : {std::pair{ReduceOp::land, pattern == 15}, std::pair{ReduceOp::lor, pattern != 0},
                                      std::pair{ReduceOp::lxor, is_odd}}) {
      const float want = is_true ? 1.0f : 0.0f;
      const float left = fold<float>(Dtype::kFloat32, op, {in[0], in[1]});
      const float right = fold<float>(Dtype::kFloat32, op, {in[2], in[3]});
      EXPECT_EQ(fold<float>(Dtype::kFloat32, op, in), want) << reduce_op_name(op) << " " << pattern;
      EXPECT_EQ(fold<float>(Dtype::kFloat32, op, {left, right}), want) << reduce_op_name(op) << " " << pattern;
      EXPECT_EQ(fold<float>(Dtype::kFloat32, op, {left, in[2], in[3]}), want) << reduce_op_name(op) << " " << pattern;
    }
  }
}

RINGTREE_FOR_EACH_TABLE(BitsAndTruth);

}  // namespace
}  // namespace ringtree
