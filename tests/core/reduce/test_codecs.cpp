// The conversions between narrow floats and float32, each bit pattern by itself: kernels' codecs against the reference,
// and the reference against values that the formats' papers and PyTorch give. The folds around them are in
// test_kernels.cpp.
#define RINGTREE_ISA isa_test
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/reduce/codecs.h"
#include "core/reduce/kernel_table.h"
#include "tests/core/reduce/reference.h"
#include "tests/core/reduce/tested_codec.h"

namespace ringtree {
namespace {

template <class T>
class Codecs : public ::testing::Test {};
using Narrow = ::testing::Types<
    Tested<isa_test::Float16, Dtype::kFloat16>, Tested<isa_test::Bfloat16, Dtype::kBfloat16>,
    Tested<isa_test::Float8E4m3fn, Dtype::kFloat8E4m3fn>, Tested<isa_test::Float8E5m2, Dtype::kFloat8E5m2>,
    Tested<isa_test::Float8E4m3fnuz, Dtype::kFloat8E4m3fnuz>, Tested<isa_test::Float8E5m2fnuz, Dtype::kFloat8E5m2fnuz>>;
TYPED_TEST_SUITE(Codecs, Narrow);

template <class Codec>
void expect_encodes_like_reference(Dtype dtype, float value) {
  const uint32_t got = Codec::encode(value);
  const uint32_t want = reference_encode(dtype, static_cast<double>(value));
  if (std::isnan(value)) {
    ASSERT_TRUE(std::isnan(reference_decode(dtype, got))) << dtype_name(dtype);
  } else {
    ASSERT_EQ(got, want) << dtype_name(dtype) << " of " << value;
  }
}

TYPED_TEST(Codecs, DecodeEveryPattern) {
  using Codec = typename TypeParam::Codec;
  for (uint32_t code = 0; code < 1u << (8 * sizeof(typename Codec::Storage)); ++code) {
    const double want = reference_decode(TypeParam::kDtype, code);
    const auto got = static_cast<double>(Codec::decode(static_cast<typename Codec::Storage>(code)));
    ASSERT_EQ(std::isnan(got), std::isnan(want)) << code;
    if (std::isnan(want)) continue;
    ASSERT_EQ(got, want) << code;
    ASSERT_EQ(std::signbit(got), std::signbit(want)) << code;
  }
}

// Also the midpoint of every two neighbours and the float32 on each side of it: where rounding decides.
TYPED_TEST(Codecs, EncodeAroundEveryPattern) {
  using Codec = typename TypeParam::Codec;
  for (uint32_t code = 0; code + 1 < 1u << (8 * sizeof(typename Codec::Storage)); ++code) {
    const double here = reference_decode(TypeParam::kDtype, code), next = reference_decode(TypeParam::kDtype, code + 1);
    const auto middle = static_cast<float>((here + next) / 2);
    for (float value :
         {static_cast<float>(here), middle, std::nextafter(middle, -INFINITY), std::nextafter(middle, INFINITY)})
      expect_encodes_like_reference<Codec>(TypeParam::kDtype, value);
  }
}

TYPED_TEST(Codecs, EncodeEveryFloat16) {
  for (uint32_t code = 0; code < 65536; ++code)
    expect_encodes_like_reference<typename TypeParam::Codec>(
        TypeParam::kDtype, static_cast<float>(reference_decode(Dtype::kFloat16, code)));
}

// Every exponent of float32, far beyond what the narrow formats hold, with mantissas that round either way.
TYPED_TEST(Codecs, EncodeEveryMagnitude) {
  for (uint32_t high = 0; high < 65536; ++high)
    for (uint32_t low : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu})
      expect_encodes_like_reference<typename TypeParam::Codec>(TypeParam::kDtype,
                                                               isa_test::bits_as<float>((high << 16) | low));
}

// min(x, x) decodes and encodes x and changes nothing: every code must come back from the compiled kernels too.
TYPED_TEST(Codecs, KernelsGiveEveryPatternBack) {
  using Storage = typename TypeParam::Codec::Storage;
  std::vector<Storage> codes;
  for (uint32_t code = 0; code < 1u << (8 * sizeof(Storage)); ++code) codes.push_back(static_cast<Storage>(code));
  for (const KernelTable* table : supported_kernel_tables()) {
    for (int num_in : {2, 3}) {
      std::vector<Storage> out(codes.size());
      const void* in[] = {codes.data(), codes.data(), codes.data()};
      table->fold[static_cast<int>(TypeParam::kDtype)][static_cast<int>(ReduceOp::min)](out.data(), in, num_in,
                                                                                        codes.size());
      for (size_t i = 0; i < codes.size(); ++i) {
        if (std::isnan(reference_decode(TypeParam::kDtype, codes[i]))) {
          ASSERT_TRUE(std::isnan(reference_decode(TypeParam::kDtype, out[i]))) << table->name << " " << i;
        } else {
          ASSERT_EQ(out[i], codes[i]) << table->name;
        }
      }
    }
  }
}

// Largest, smallest normal and smallest subnormal number of each format, as their definitions state them.
TEST(Reference, DecodesTheLimitsOfTheFormats) {
  EXPECT_EQ(reference_decode(Dtype::kFloat16, 0x7BFF), 65504);
  EXPECT_EQ(reference_decode(Dtype::kFloat16, 0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(reference_decode(Dtype::kFloat16, 0xFC00), -INFINITY);
  EXPECT_EQ(reference_decode(Dtype::kBfloat16, 0x7F7F), static_cast<double>(isa_test::bits_as<float>(0x7F7F0000u)));
  EXPECT_EQ(reference_decode(Dtype::kFloat8E4m3fn, 0x7E), 448);
  EXPECT_EQ(reference_decode(Dtype::kFloat8E4m3fn, 0x08), std::ldexp(1.0, -6));
  EXPECT_EQ(reference_decode(Dtype::kFloat8E4m3fn, 0x01), std::ldexp(1.0, -9));
  EXPECT_TRUE(std::isnan(reference_decode(Dtype::kFloat8E4m3fn, 0xFF)));
  EXPECT_EQ(reference_decode(Dtype::kFloat8E5m2, 0x7B), 57344);
  EXPECT_EQ(reference_decode(Dtype::kFloat8E5m2, 0x01), std::ldexp(1.0, -16));
  EXPECT_EQ(reference_decode(Dtype::kFloat8E5m2, 0x7C), INFINITY);
  EXPECT_EQ(reference_decode(Dtype::kFloat8E4m3fnuz, 0x7F), 240);
  EXPECT_EQ(reference_decode(Dtype::kFloat8E4m3fnuz, 0x01), std::ldexp(1.0, -10));
  EXPECT_TRUE(std::isnan(reference_decode(Dtype::kFloat8E4m3fnuz, 0x80)));
  EXPECT_EQ(reference_decode(Dtype::kFloat8E5m2fnuz, 0x7F), 57344);
  EXPECT_EQ(reference_decode(Dtype::kFloat8E5m2fnuz, 0x01), std::ldexp(1.0, -17));
}

// What PyTorch 2.13 gives for tensor.to(dtype) where the formats differ most: ties, overflow, underflow, the sign of
// zero.
TEST(Reference, EncodesLikePyTorch) {
  struct Row {
    double value;
    uint32_t e4m3fn, e5m2, e4m3fnuz, e5m2fnuz;
  };
  const Row rows[] = {
      {464.0, 0x7E, 0x5F, 0x80, 0x63},
      {480.0, 0x7E, 0x60, 0x80, 0x64},
      {1e6, 0x7E, 0x7C, 0x80, 0x80},
      {INFINITY, 0x7E, 0x7C, 0x80, 0x80},
      {247.0, 0x77, 0x5C, 0x7F, 0x60},
      {248.0, 0x78, 0x5C, 0x80, 0x60},
      {61439.0, 0x7E, 0x7B, 0x80, 0x7F},
      {61440.0, 0x7E, 0x7C, 0x80, 0x80},
      {std::ldexp(1.0, -10), 0x00, 0x14, 0x01, 0x18},
      {std::ldexp(1.0, -11), 0x00, 0x10, 0x00, 0x14},
      {std::ldexp(-1.0, -17), 0x80, 0x80, 0x00, 0x81},
      {std::ldexp(-1.0, -12), 0x80, 0x8C, 0x00, 0x90},
      {-0.0, 0x80, 0x80, 0x00, 0x00},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(reference_encode(Dtype::kFloat8E4m3fn, row.value), row.e4m3fn) << row.value;
    EXPECT_EQ(reference_encode(Dtype::kFloat8E5m2, row.value), row.e5m2) << row.value;
    EXPECT_EQ(reference_encode(Dtype::kFloat8E4m3fnuz, row.value), row.e4m3fnuz) << row.value;
    EXPECT_EQ(reference_encode(Dtype::kFloat8E5m2fnuz, row.value), row.e5m2fnuz) << row.value;
  }
}

}  // namespace
}  // namespace ringtree
