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
      for (size_t count : {0, 1, 2, 7, 8, 31, 33, 63, 64, 65, 1000})
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
          GetParam()->fold[static_cast<int>(dtype)][static_cast<int>(op)](got.data(), in.data(), num_in, kNumCodes);
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
