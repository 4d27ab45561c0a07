// premul_sum's multiplication: every scale kernel of every table that this processor can run, against the reference bit
// by bit, and beside it products that are known without one; also which factors fit a dtype.
// The folds that follow it are sum's: test_kernels.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "core/reduce/kernels.h"
#include "tests/core/reduce/check_fold.h"
#include "tests/core/reduce/kernel_table_test.h"

namespace ringtree {
namespace {

using testing_reduce::Bytes;
using testing_reduce::Data;
using testing_reduce::first_difference;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Exact in float32 and not, large and small enough for overflow and subnormal products, at the ends of the integers.
const double kFactors[] = {0.0,
                           -0.0,
                           1.0,
                           -1.0,
                           2.0,
                           0.5,
                           3.0,
                           1.0 / 3.0,
                           -0.1,
                           1.0 + std::ldexp(1.0, -30),
                           100.0,
                           -128.0,
                           255.0,
                           65535.0,
                           std::ldexp(-1.0, 31),
                           std::ldexp(1.0, 32) - 1,
                           std::ldexp(-1.0, 63),
                           std::ldexp(1.0, 64) - 2048,
                           1e30,
                           1e-30,
                           1e-42,
                           1e300,
                           kInfinity,
                           kNan};

class EveryScale : public testing_reduce::KernelTableTest {};

// Empty if the kernel gives what the reference does, writes nothing else and leaves the input alone, at odd addresses.
std::string check_scale(ScaleKernel kernel, Dtype dtype, const Bytes& data, double factor, bool in_place) {
  constexpr size_t kMargin = 65;
  const size_t count = data.size() / item_size(dtype);
  Bytes want(data.size());
  reference_scale(dtype, want.data(), data.data(), count, factor);
  Bytes input(data.size() + 2 * kMargin, 0xA5), apart(data.size() + 2 * kMargin + 2, 0xA5);
  std::copy(data.begin(), data.end(), input.begin() + kMargin);
  Bytes& holder = in_place ? input : apart;
  unsigned char* out = &holder[in_place ? kMargin : kMargin + 2];
  kernel(out, &input[kMargin], count, factor);

  const std::string where = std::string(dtype_name(dtype)) + " times " + std::to_string(factor) + ", count " +
                            std::to_string(count) + (in_place ? ", in place: " : ": ");
  if (const auto index = first_difference(dtype, out, want.data(), count))
    return where + "element " + std::to_string(*index) + " is wrong";
  for (const unsigned char* at = holder.data(); at < holder.data() + holder.size(); ++at)
    if ((at < out || at >= out + data.size()) && *at != 0xA5) return where + "wrote outside the output";
  if (!in_place && !std::equal(data.begin(), data.end(), input.begin() + kMargin)) return where + "changed the input";
  return {};
}

TEST_P(EveryScale, MultipliesLikeTheReference) {
  for (Dtype dtype : kDtypes) {
    ASSERT_EQ(scale_of(dtype) != nullptr, reference_defined(dtype, ReduceOp::premul_sum)) << dtype_name(dtype);
    int num_factors = 0;
    for (double factor : kFactors) {
      if (!factor_fits(dtype, factor)) continue;
      ++num_factors;
      for (size_t count : {0, 1, 7, 8, 31, 33, 64, 65, 1000})
        for (Data data : {Data::any_bits, Data::ordinary, Data::often_zero})
          for (bool in_place : {false, true})
            ASSERT_EQ(check_scale(scale_of(dtype), dtype, make_data(dtype, count, data, 5), factor, in_place), "");
    }
    EXPECT_EQ(num_factors >= 6, scale_of(dtype) != nullptr) << dtype_name(dtype);
  }
}

// The vector code has its own conversions and its own rounding.
TEST_P(EveryScale, MultipliesEveryTwoByteCode) {
  Bytes every;
  for (unsigned code = 0; code < 65536; ++code) {
    every.push_back(static_cast<unsigned char>(code & 0xFF));
    every.push_back(static_cast<unsigned char>(code >> 8));
  }
  every.insert(every.end(), {0x01, 0x3C});  // an odd number of elements
  for (Dtype dtype : {Dtype::kFloat16, Dtype::kBfloat16})
    for (double factor : kFactors)
      if (factor_fits(dtype, factor)) {
        ASSERT_EQ(check_scale(scale_of(dtype), dtype, every, factor, false), "");
      }
}

TEST_P(EveryScale, KnownProducts) {
  EXPECT_EQ(scale<int8_t>(Dtype::kInt8, 100, 3), 44);      // 300 - 256
  EXPECT_EQ(scale<int8_t>(Dtype::kInt8, -128, -1), -128);  // 128 wraps
  EXPECT_EQ(scale<uint16_t>(Dtype::kUint16, 65535, 65535), 1);
  EXPECT_EQ(scale<int32_t>(Dtype::kInt32, -7, 6), -42);
  EXPECT_EQ(scale<int64_t>(Dtype::kInt64, 3, std::ldexp(-1.0, 63)), INT64_MIN);
  EXPECT_EQ(scale<uint64_t>(Dtype::kUint64, 3, std::ldexp(1.0, 63)), uint64_t{1} << 63);
  EXPECT_EQ(scale<double>(Dtype::kFloat64, 3, 1.0 / 3.0), 1.0);
  EXPECT_EQ(scale<uint16_t>(Dtype::kFloat16, 0x7BFF, 2), 0x7C00);    // 2 * 65504: infinity
  EXPECT_EQ(scale<uint16_t>(Dtype::kBfloat16, 0x3F80, -3), 0xC040);  // 1 * -3
  EXPECT_EQ(scale<uint8_t>(Dtype::kFloat8E4m3fn, 0x7E, 2), 0x7E);    // 2 * 448: stays
  EXPECT_EQ(scale<uint8_t>(Dtype::kFloat8E5m2, 0x3C, 0.5), 0x38);
  EXPECT_EQ(scale(Dtype::kComplex64, std::complex<float>(1, -2), -2), std::complex<float>(-2, 4));
  EXPECT_EQ(scale(Dtype::kComplex128, std::complex<double>(3, 5), 0.5), std::complex<double>(1.5, 2.5));
}

// 1 + 0.75 * 2^-23 is 1 + 2^-23 as a float32, and 3 times that is half-way between two floats, of which the upper is
// even. 3 times the factor itself would be nearer to the lower.
TEST_P(EveryScale, FactorIsRoundedBeforeItMultiplies) {
  const double factor = 1 + 0.75 * std::ldexp(1.0, -23);
  EXPECT_EQ(scale<float>(Dtype::kFloat32, 3, factor), 3 + std::ldexp(1.0f, -21));
  EXPECT_EQ(scale<double>(Dtype::kFloat64, 3, factor), 3 + 2.25 * std::ldexp(1.0, -23));
}

TEST_P(EveryScale, NansStayAndAFactorOfNanGivesNothingElse) {
  for (Dtype dtype : {Dtype::kFloat16, Dtype::kBfloat16}) {
    const auto nan = static_cast<uint16_t>(reference_encode(dtype, kNan));
    EXPECT_TRUE(std::isnan(reference_decode(dtype, scale<uint16_t>(dtype, nan, 0)))) << dtype_name(dtype);
    // A payload of ones, which rounding must not carry out of.
    double payload;
    const uint64_t bits = 0x7FFFFFFFFFFFFFFFu;
    std::memcpy(&payload, &bits, sizeof(payload));
    for (uint16_t value : {uint16_t{0}, uint16_t{0x3C00}})
      EXPECT_TRUE(std::isnan(reference_decode(dtype, scale<uint16_t>(dtype, value, payload)))) << dtype_name(dtype);
  }
}

RINGTREE_FOR_EACH_TABLE(EveryScale);

TEST(FactorFits, IntegersTakeTheWholeNumbersThatTheyHold) {
  struct Row {
    Dtype dtype;
    double lowest, highest;
  };
  const double two31 = std::ldexp(1.0, 31), two32 = std::ldexp(1.0, 32), two63 = std::ldexp(1.0, 63);
  const Row rows[] = {{Dtype::kInt8, -128, 127},
                      {Dtype::kUint8, 0, 255},
                      {Dtype::kInt16, -32768, 32767},
                      {Dtype::kUint16, 0, 65535},
                      {Dtype::kInt32, -two31, two31 - 1},
                      {Dtype::kUint32, 0, two32 - 1},
                      {Dtype::kInt64, -two63, std::nextafter(two63, 0)},
                      {Dtype::kUint64, 0, std::nextafter(2 * two63, 0)}};
  for (const Row& row : rows) {
    for (double fits : {row.lowest, row.highest, 0.0, -0.0, 1.0})
      EXPECT_TRUE(factor_fits(row.dtype, fits)) << dtype_name(row.dtype) << " " << fits;
    const double above = std::fmax(row.highest + 1, std::nextafter(row.highest, kInfinity));
    const double below = std::fmin(row.lowest - 1, std::nextafter(row.lowest, -kInfinity));
    for (double fails : {above, below, std::ceil(above), std::floor(below), 0.5, -0.5, kInfinity, -kInfinity, kNan})
      EXPECT_FALSE(factor_fits(row.dtype, fails)) << dtype_name(row.dtype) << " " << fails;
  }
}

TEST(FactorFits, FloatsTakeWhatStaysFinite) {
  const double largest_float = static_cast<double>(std::numeric_limits<float>::max());
  for (Dtype dtype : kDtypes) {
    if (dtype >= Dtype::kInt8 && dtype <= Dtype::kUint64) continue;
    const bool defined = reference_defined(dtype, ReduceOp::premul_sum);
    for (double fits : {0.0, -1.0 / 3.0, 1e-300, largest_float, -largest_float, kInfinity, -kInfinity, kNan})
      EXPECT_EQ(factor_fits(dtype, fits), defined) << dtype_name(dtype) << " " << fits;
    const bool is_double = dtype == Dtype::kFloat64 || dtype == Dtype::kComplex128;
    for (double large : {std::nextafter(largest_float, kInfinity), -1e300})
      EXPECT_EQ(factor_fits(dtype, large), is_double) << dtype_name(dtype) << " " << large;
  }
}

}  // namespace
}  // namespace ringtree
