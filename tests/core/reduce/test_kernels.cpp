// Every fold and finish kernel of every table that this processor can run, against the reference, bit by bit.
// Chosen values with known results are in test_special_values.cpp; single conversions in test_codecs.cpp.
#include <gtest/gtest.h>

#include "core/reduce/kernel_table.h"
#include "core/reduce/kernels.h"
#include "tests/core/reduce/check_fold.h"

namespace ringtree {
namespace {

using testing_reduce::Bytes;
using testing_reduce::check_fold;
using testing_reduce::Data;

class EveryTable : public ::testing::TestWithParam<const KernelTable*> {};

TEST_P(EveryTable, FoldsLikeTheReference) {
  int num_kernels = 0;
  for (Dtype dtype : kDtypes) {
    for (ReduceOp op : kReduceOps) {
      const FoldKernel kernel = GetParam()->fold[static_cast<int>(dtype)][static_cast<int>(op)];
      ASSERT_EQ(kernel != nullptr, reference_defined(dtype, op)) << dtype_name(dtype) << " " << reduce_op_name(op);
      if (kernel == nullptr) continue;
      ++num_kernels;
      for (size_t count : {0, 1, 7, 63, 64, 65, 1000})
        for (int num_in : {2, 3, 5, 16})
          for (Data data : {Data::any_bits, Data::ordinary})
            ASSERT_EQ(check_fold(kernel, {dtype, op, count, num_in, data}), "");
    }
  }
  EXPECT_EQ(num_kernels,
            17 * 5 - 1 + 3 * 3);  // 17 real dtypes, of which bool has no avg; 3 complex ones with 3 ops each
}

// The blocks of the narrowest accumulator hold 2,048 elements: this many crosses their borders, for any dtype.
TEST_P(EveryTable, FoldsAcrossBlocks) {
  for (Dtype dtype : kDtypes) {
    const FoldKernel kernel = GetParam()->fold[static_cast<int>(dtype)][static_cast<int>(ReduceOp::sum)];
    if (kernel == nullptr) continue;
    for (int num_in : {2, 3, 4}) {
      ASSERT_EQ(check_fold(kernel, {dtype, ReduceOp::sum, 4099, num_in, Data::ordinary}), "");
    }
  }
}

TEST_P(EveryTable, FinishesLikeTheReference) {
  for (Dtype dtype : kDtypes) {
    const FinishKernel kernel = GetParam()->finish[static_cast<int>(dtype)];
    ASSERT_EQ(kernel != nullptr, reference_defined(dtype, ReduceOp::avg)) << dtype_name(dtype);
    if (kernel == nullptr) continue;
    for (size_t count : {0, 1, 7, 65, 1000}) {
      for (int64_t num_ranks : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{300}, int64_t{100'003}}) {
        for (Data data : {Data::any_bits, Data::ordinary}) {
          Bytes want = testing_reduce::make_data(dtype, count, data, 77);
          Bytes got(want.size() + 1);
          std::copy(want.begin(), want.end(), got.begin() + 1);
          kernel(&got[1], count, num_ranks);
          reference_finish(dtype, want.data(), count, num_ranks);
          ASSERT_EQ(testing_reduce::first_difference(dtype, got.data() + 1, want.data(), count), std::nullopt)
              << dtype_name(dtype) << " / " << num_ranks;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, EveryTable,
                         ::testing::ValuesIn(supported_kernel_tables().begin(), supported_kernel_tables().end()),
                         [](const auto& of) { return std::string(of.param->name); });

TEST(Kernels, LookupGivesTheFastestTable) {
  const KernelTable& fastest = *supported_kernel_tables().back();
  for (Dtype dtype : kDtypes) {
    for (ReduceOp op : kReduceOps) {
      EXPECT_EQ(fold_kernel(dtype, op), fastest.fold[static_cast<int>(dtype)][static_cast<int>(op)]);
      EXPECT_EQ(finish_kernel(dtype, op) != nullptr, op == ReduceOp::avg && reference_defined(dtype, op));
      EXPECT_EQ(why_undefined(dtype, op).empty(), reference_defined(dtype, op));
    }
    EXPECT_EQ(fold_kernel(dtype, ReduceOp::avg) != nullptr, finish_kernel(dtype, ReduceOp::avg) != nullptr);
  }
}

TEST(Kernels, SaysWhyUndefined) {
  EXPECT_EQ(why_undefined(Dtype::kComplex64, ReduceOp::min),
            "min is not defined for complex64: use one of sum, prod, avg");
  EXPECT_EQ(why_undefined(Dtype::kBool, ReduceOp::avg), "avg is not defined for bool: use one of sum, prod, min, max");
  EXPECT_EQ(why_undefined(Dtype::kFloat8E8m0fnu, ReduceOp::sum),
            "sum is not defined for float8_e8m0fnu: it can be moved but not reduced");
}

}  // namespace
}  // namespace ringtree
