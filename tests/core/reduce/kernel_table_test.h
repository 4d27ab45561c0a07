// The fixture of tests that hold for each table of kernels that this processor can run: folds, finishes and scales of
// one value at a time, so that a test reads as a line of arithmetic. Not a test; whole vectors are check_fold.h's.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/reduce/kernel_table.h"
#include "tests/core/reduce/check_fold.h"

namespace ringtree::testing_reduce {

class KernelTableTest : public ::testing::TestWithParam<const KernelTable*> {
 protected:
  FoldKernel fold_of(Dtype dtype, ReduceOp op) const {
    return GetParam()->fold[static_cast<int>(dtype)][static_cast<int>(op)];
  }
  FinishKernel finish_of(Dtype dtype) const { return GetParam()->finish[static_cast<int>(dtype)]; }
  ScaleKernel scale_of(Dtype dtype) const { return GetParam()->scale[static_cast<int>(dtype)]; }

  // Folds vectors of one element repeated.
  template <class T>
  T fold(Dtype dtype, ReduceOp op, const std::vector<T>& operands) const {
    std::vector<std::vector<T>> vectors;
    std::vector<const void*> in;
    for (T operand : operands) vectors.emplace_back(kRepeats, operand);
    for (const auto& vector : vectors) in.push_back(vector.data());
    std::vector<T> out(kRepeats);
    fold_of(dtype, op)(out.data(), in.data(), static_cast<int>(in.size()), kRepeats);
    return only_value(dtype, out);
  }

  template <class T>
  T finish(Dtype dtype, T value, int64_t num_ranks) const {
    std::vector<T> data(kRepeats, value);
    finish_of(dtype)(data.data(), kRepeats, num_ranks);
    return only_value(dtype, data);
  }

  template <class T>
  T scale(Dtype dtype, T value, double factor) const {
    std::vector<T> data(kRepeats, value);
    scale_of(dtype)(data.data(), data.data(), kRepeats, factor);
    return only_value(dtype, data);
  }

 private:
  static constexpr size_t kRepeats = 67;  // enough for vector code and its tail, which must agree

  template <class T>
  static T only_value(Dtype dtype, const std::vector<T>& values) {
    const std::vector<T> first(values.size(), values[0]);
    EXPECT_EQ(first_difference(dtype, reinterpret_cast<const unsigned char*>(values.data()),
                               reinterpret_cast<const unsigned char*>(first.data()), values.size()),
              std::nullopt)
        << dtype_name(dtype);
    return values[0];
  }
};

}  // namespace ringtree::testing_reduce

/// Runs the tests of Fixture, a KernelTableTest, once for each table, the table's name at the end of theirs.
#define RINGTREE_FOR_EACH_TABLE(Fixture)                                                                        \
  INSTANTIATE_TEST_SUITE_P(                                                                                     \
      Tables, Fixture, ::testing::ValuesIn(supported_kernel_tables().begin(), supported_kernel_tables().end()), \
      [](const ::testing::TestParamInfo<const KernelTable*>& table) { return std::string(table.param->name); })
