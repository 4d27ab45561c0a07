// Tests that the checks of check_fold.h fail when they should: each wrong kernel here must be caught.
// The kernels proper are tested in test_kernels.cpp.
#include <gtest/gtest.h>

#include "tests/core/reduce/check_fold.h"

namespace ringtree {
namespace {

using testing_reduce::Case;
using testing_reduce::check_fold;
using testing_reduce::Data;
using testing_reduce::first_difference;

constexpr Case kFloatSum{Dtype::kFloat32, ReduceOp::sum, 1000, 5, Data::ordinary};

void right_kernel(void* out, const void* const* in, int num_in, size_t count) {
  reference_fold(Dtype::kFloat32, ReduceOp::sum, out, in, num_in, count);
}

void drops_last_input(void* out, const void* const* in, int num_in, size_t count) {
  right_kernel(out, in, num_in - 1, count);
}

void folds_from_the_right(void* out, const void* const* in, int num_in, size_t count) {
  std::vector<const void*> reversed(in, in + num_in);
  std::reverse(reversed.begin(), reversed.end());
  right_kernel(out, reversed.data(), num_in, count);
}

void forgets_the_tail(void* out, const void* const* in, int num_in, size_t count) {
  right_kernel(out, in, num_in, count - 1);
}

void writes_too_far(void* out, const void* const* in, int num_in, size_t count) {
  right_kernel(out, in, num_in, count);
  static_cast<unsigned char*>(out)[count * sizeof(float)] = 0;
}

// Right out of place, wrong where the output is a later input: it is overwritten before it is read.
void accumulates_in_the_output(void* out, const void* const* in, int num_in, size_t count) {
  const void* pair[] = {in[0], in[1]};
  right_kernel(out, pair, 2, count);
  for (int k = 2; k < num_in; ++k) {
    pair[0] = out;
    pair[1] = in[k];
    right_kernel(out, pair, 2, count);
  }
}

// A truth value for every number but -0.
void takes_minus_zero_for_true(void* out, const void* const* in, int num_in, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = 0, next;
    for (int k = 0; k < num_in; ++k) {
      std::memcpy(&next, static_cast<const unsigned char*>(in[k]) + i * sizeof(next), sizeof(next));
      bits |= next;
    }
    testing_reduce::put_float(Dtype::kFloat32, static_cast<unsigned char*>(out) + i * sizeof(float), bits != 0 ? 1 : 0);
  }
}

TEST(CheckFold, PassesTheRightKernel) { EXPECT_EQ(check_fold(right_kernel, kFloatSum), ""); }

TEST(CheckFold, CatchesWrongKernels) {
  EXPECT_NE(check_fold(drops_last_input, kFloatSum).find("is wrong"), std::string::npos);
  EXPECT_NE(check_fold(folds_from_the_right, kFloatSum).find("is wrong"), std::string::npos);
  EXPECT_NE(check_fold(forgets_the_tail, kFloatSum).find("element 999 is wrong"), std::string::npos);
  EXPECT_NE(check_fold(writes_too_far, kFloatSum).find("wrote outside"), std::string::npos);
  EXPECT_NE(check_fold(accumulates_in_the_output, kFloatSum).find("in place of 2: element"), std::string::npos);
  EXPECT_NE(check_fold(takes_minus_zero_for_true, {Dtype::kFloat32, ReduceOp::lor, 1000, 2, Data::often_zero}), "");
}

template <class T>
std::optional<size_t> compare(Dtype dtype, std::vector<T> got, std::vector<T> want) {
  return first_difference(dtype, reinterpret_cast<const unsigned char*>(got.data()),
                          reinterpret_cast<const unsigned char*>(want.data()),
                          got.size() / testing_reduce::parts_per_item(dtype));
}

TEST(FirstDifference, SeesEveryBitButNotNanPayloads) {
  const float nan = std::nanf("1"), other_nan = -std::nanf("2");
  EXPECT_EQ(compare<float>(Dtype::kFloat32, {1, nan, 3}, {1, other_nan, 3}), std::nullopt);
  EXPECT_EQ(compare<float>(Dtype::kFloat32, {1, 2, nan}, {1, 2, 3}), 2u);
  EXPECT_EQ(compare<float>(Dtype::kFloat32, {1, 2, 3}, {1, 2, nan}), 2u);
  EXPECT_EQ(compare<float>(Dtype::kFloat32, {0.0f}, {-0.0f}), 0u);
  EXPECT_EQ(compare<float>(Dtype::kFloat32, {1, 1}, {1, std::nextafter(1.0f, 2.0f)}), 1u);
  EXPECT_EQ(compare<double>(Dtype::kComplex128, {1, 2, 3, 4}, {1, 2, 3, 5}), 1u);
  EXPECT_EQ(compare<uint16_t>(Dtype::kFloat16, {0x7E00}, {0xFC01}), std::nullopt);
  EXPECT_EQ(compare<uint16_t>(Dtype::kFloat16, {0x7C00}, {0xFC00}), 0u);
  EXPECT_EQ(compare<uint16_t>(Dtype::kUint16, {0x7E00}, {0xFC01}), 0u);  // the same bits as integers
}

}  // namespace
}  // namespace ringtree
