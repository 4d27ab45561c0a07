// Tests of the dtype table: numbers, names and sizes. The numbers and sizes are written out here a second time on
// purpose: they are a wire format, so changing one must fail a test. Not arithmetic: that is tests/core/reduce.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/base/dtype.h"

namespace ringtree {
namespace {

struct Expected {
  const char* name;
  size_t item_size;
};

// By number. PyTorch prints these names after "torch." and gives these as dtype.itemsize.
constexpr Expected kExpected[] = {
    {"bool", 1},          {"int8", 1},          {"uint8", 1},       {"int16", 2},           {"uint16", 2},
    {"int32", 4},         {"uint32", 4},        {"int64", 8},       {"uint64", 8},          {"float16", 2},
    {"bfloat16", 2},      {"float32", 4},       {"float64", 8},     {"complex32", 4},       {"complex64", 8},
    {"complex128", 16},   {"float8_e4m3fn", 1}, {"float8_e5m2", 1}, {"float8_e4m3fnuz", 1}, {"float8_e5m2fnuz", 1},
    {"float8_e8m0fnu", 1}};

TEST(Dtype, NumbersNamesAndSizesAreStable) {
  ASSERT_EQ(kNumDtypes, 21);
  for (int number = 0; number < kNumDtypes; ++number) {
    const auto dtype = static_cast<Dtype>(number);
    EXPECT_EQ(kDtypes[number], dtype);
    EXPECT_STREQ(dtype_name(dtype), kExpected[number].name);
    EXPECT_EQ(item_size(dtype), kExpected[number].item_size) << dtype_name(dtype);
  }
}

TEST(Dtype, NamesAreDistinctAndLeadBack) {
  std::set<std::string> names;
  for (Dtype dtype : kDtypes) {
    EXPECT_TRUE(names.insert(dtype_name(dtype)).second) << dtype_name(dtype);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
  }
}

TEST(Dtype, UnknownNamesAreNotGuessed) {
  for (const char* name : {"", "float", "Float32", "float32 ", "torch.float32", "half", "float8"})
    EXPECT_EQ(dtype_from_name(name), std::nullopt) << name;
}

}  // namespace
}  // namespace ringtree
