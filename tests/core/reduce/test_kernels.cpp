// Every fold and finish kernel of every table that this processor can run, against the reference, bit by bit.
// Scale kernels are in test_scale.cpp, chosen values with known results in test_special_values.cpp, single conversions
// in test_codecs.cpp.
#include <gtest/gtest.h>

#include "core/reduce/kernels.h"
#include "tests/core/reduce/check_fold.h"
#include "tests/core/reduce/kernel_table_test.h"

namespace ringtree {
namespace {

using testing_reduce::Bytes;
using testing_reduce::check_fold;
using testing_reduce::Data;

class EveryTable : public testing_reduce::KernelTableTest {};

TEST_P(EveryTable, FoldsLikeTheReference) {
  int num_kernels = 0;
  for (Dtype dtype : kDtypes) {
    for (ReduceOp op : kReduceOps) {
      const FoldKernel kernel = fold_of(dtype, op);
      ASSERT_EQ(kernel != nullptr, reference_defined(dtype, op)) << dtype_name(dtype) << " " << reduce_op_name(op);
      if (kernel == nullptr) continue;
      ++num_kernels;
      for (size_t count : {0, 1, 2, 7, 8, 31, 33, 63, 64, 65, 1000})
        for (int num_in : {2, 3, 5, 16})
          for (Data data : {Data::any_bits, Data::ordinary, Data::often_zero})
            ASSERT_EQ(check_fold(kernel, {dtype, op, count, num_in, data}), "");
    }
  }
  // bool: no avg, no premul_sum. 8 integers: all. 8 real floats: not the 3 bitwise. 3 complex: no min, no max either.
  EXPECT_EQ(num_kernels, 10 + 8 * 12 + 8 * 9 + 3 * 7);
}

// The blocks of the narrowest accumulator hold 2,048 elements: this many crosses their borders, for any dtype.
TEST_P(EveryTable, FoldsAcrossBlocks) {
  for (Dtype dtype : kDtypes)
    for (ReduceOp op : {ReduceOp::sum, ReduceOp::bxor, ReduceOp::lxor})
      if (const FoldKernel kernel = fold_of(dtype, op)) {
        for (int num_in : {2, 3, 4}) ASSERT_EQ(check_fold(kernel, {dtype, op, 4099, num_in, Data::ordinary}), "");
      }
}

// Every code of the two-byte floats beside operands that make it tie, round up and down, cancel, overflow, underflow
// and become NaN: the vector code has its own conversions and its own rounding, which random data would meet too
// rarely.
TEST_P(EveryTable, FoldsEveryTwoByteCode) {
  constexpr size_t kNumCodes = 65536;
  std::vector<uint16_t> every(kNumCodes);
  for (size_t code = 0; code < kNumCodes; ++code) every[code] = static_cast<uint16_t>(code);
  for (Dtype dtype : {Dtype::kFloat16, Dtype::kBfloat16}) {
    const bool is_half = dtype == Dtype::kFloat16;
    const std::vector<uint16_t> partners =
        is_half ? std::vector<uint16_t>{0x8000, 0x0001, 0x3C00, 0xBC01, 0x4555, 0x7BFF, 0xFC00, 0x7C01}
                : std::vector<uint16_t>{0x8000, 0x0001, 0x3F80, 0xBF81, 0x4055, 0x7F7F, 0xFF80, 0x7F81};
    for (ReduceOp op : {ReduceOp::sum, ReduceOp::prod}) {
      for (uint16_t partner : partners) {
        const std::vector<uint16_t> same(kNumCodes, partner);
        for (const auto& in : {std::vector<const void*>{every.data(), same.data()},
                               std::vector<const void*>{same.data(), every.data(), same.data()}}) {
          std::vector<uint16_t> got(kNumCodes), want(kNumCodes);
          const int num_in = static_cast<int>(in.size());
          fold_of(dtype, op)(got.data(), in.data(), num_in, kNumCodes);
          reference_fold(dtype, op, want.data(), in.data(), num_in, kNumCodes);
          ASSERT_EQ(testing_reduce::first_difference(dtype, reinterpret_cast<const unsigned char*>(got.data()),
                                                     reinterpret_cast<const unsigned char*>(want.data()), kNumCodes),
                    std::nullopt)
              << dtype_name(dtype) << " " << reduce_op_name(op) << " with " << partner << ", inputs " << num_in;
        }
      }
    }
  }
}

TEST_P(EveryTable, FinishesLikeTheReference) {
  for (Dtype dtype : kDtypes) {
    const FinishKernel kernel = finish_of(dtype);
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

RINGTREE_FOR_EACH_TABLE(EveryTable);

TEST(Kernels, LookupGivesTheFastestTable) {
  const KernelTable& fastest = *supported_kernel_tables().back();
  for (Dtype dtype : kDtypes) {
    const int row = static_cast<int>(dtype);
    for (ReduceOp op : kReduceOps) {
      EXPECT_EQ(fold_kernel(dtype, op), fastest.fold[row][static_cast<int>(op)]);
      EXPECT_EQ(finish_kernel(dtype, op), op == ReduceOp::avg ? fastest.finish[row] : nullptr);
      EXPECT_EQ(scale_kernel(dtype, op), op == ReduceOp::premul_sum ? fastest.scale[row] : nullptr);
      EXPECT_EQ(why_undefined(dtype, op).empty(), reference_defined(dtype, op));
    }
    EXPECT_EQ(fold_kernel(dtype, ReduceOp::avg) != nullptr, finish_kernel(dtype, ReduceOp::avg) != nullptr);
    EXPECT_EQ(fold_kernel(dtype, ReduceOp::premul_sum) != nullptr,
              scale_kernel(dtype, ReduceOp::premul_sum) != nullptr);
  }
}

TEST(Kernels, SaysWhyUndefined) {
  EXPECT_EQ(why_undefined(Dtype::kComplex64, ReduceOp::min),
            "min is not defined for complex64: use one of sum, prod, avg, premul_sum, land, lor, lxor");
  EXPECT_EQ(why_undefined(Dtype::kBool, ReduceOp::avg),
            "avg is not defined for bool: use one of sum, prod, min, max, band, bor, bxor, land, lor, lxor");
  EXPECT_EQ(why_undefined(Dtype::kFloat16, ReduceOp::bxor),
            "bxor is not defined for float16: use one of sum, prod, min, max, avg, premul_sum, land, lor, lxor");
  EXPECT_EQ(why_undefined(Dtype::kFloat8E8m0fnu, ReduceOp::sum),
            "sum is not defined for float8_e8m0fnu: it can be moved but not reduced");
}

}  // namespace
}  // namespace ringtree
