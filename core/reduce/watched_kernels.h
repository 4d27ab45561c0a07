// Kernels as ThreadSanitizer sees them: each call tells it of whole arrays. Elements may lie at any address, so it
// would look at each of them the slow way, which took most of the time of a large fold; no other thread has to do with
// what happens within a kernel, so it sees every race that it saw. Only in builds under ThreadSanitizer, where
// CMakeLists.txt leaves it out of the loops themselves. Not the arithmetic (fold_loops.h), nor the choice of an
// instruction set (kernels.cpp).
#pragma once

#include <array>
#include <utility>

#include "core/reduce/kernel_table.h"

extern "C" {
void __tsan_read_range(void* begin, unsigned long num_bytes);  // NOLINT: the sanitizer's names
void __tsan_write_range(void* begin, unsigned long num_bytes);
}

namespace ringtree {

class WatchedKernels {
 public:
  static FoldKernel fold(Dtype dtype, ReduceOp op) {
    return kFolds[row(dtype) * kNumReduceOps + static_cast<size_t>(op)];
  }
  static FinishKernel finish(Dtype dtype) { return kFinishes[row(dtype)]; }
  static ScaleKernel scale(Dtype dtype) { return kScales[row(dtype)]; }

 private:
  static size_t row(Dtype dtype) { return static_cast<size_t>(dtype); }
  static const KernelTable& fastest() { return *supported_kernel_tables().back(); }
  static void reads(const void* begin, size_t num_bytes) { __tsan_read_range(const_cast<void*>(begin), num_bytes); }

  template <size_t kRow, size_t kOp>
  static void fold_of(void* out, const void* const* in, int num_in, size_t count) {
    const size_t num_bytes = count * item_size(kDtypes[kRow]);
    for (int i = 0; i < num_in; ++i) reads(in[i], num_bytes);
    fastest().fold[kRow][kOp](out, in, num_in, count);
    __tsan_write_range(out, num_bytes);
  }
  template <size_t kRow>
  static void finish_of(void* data, size_t count, int64_t num_ranks) {
    fastest().finish[kRow](data, count, num_ranks);
    __tsan_write_range(data, count * item_size(kDtypes[kRow]));
  }
  template <size_t kRow>
  static void scale_of(void* out, const void* in, size_t count, double factor) {
    reads(in, count * item_size(kDtypes[kRow]));
    fastest().scale[kRow](out, in, count, factor);
    __tsan_write_range(out, count * item_size(kDtypes[kRow]));
  }

  template <size_t... kIndex>
  static constexpr auto all_folds(std::index_sequence<kIndex...>) {
    return std::array<FoldKernel, sizeof...(kIndex)>{fold_of<kIndex / kNumReduceOps, kIndex % kNumReduceOps>...};
  }
  template <size_t... kRow>
  static constexpr auto all_finishes(std::index_sequence<kRow...>) {
    return std::array<FinishKernel, sizeof...(kRow)>{finish_of<kRow>...};
  }
  template <size_t... kRow>
  static constexpr auto all_scales(std::index_sequence<kRow...>) {
    return std::array<ScaleKernel, sizeof...(kRow)>{scale_of<kRow>...};
  }
  static const std::array<FoldKernel, kNumDtypes * kNumReduceOps> kFolds;
  static const std::array<FinishKernel, kNumDtypes> kFinishes;
  static const std::array<ScaleKernel, kNumDtypes> kScales;
};

inline constexpr std::array<FoldKernel, kNumDtypes * kNumReduceOps> WatchedKernels::kFolds =
    all_folds(std::make_index_sequence<kNumDtypes * kNumReduceOps>());
inline constexpr std::array<FinishKernel, kNumDtypes> WatchedKernels::kFinishes =
    all_finishes(std::make_index_sequence<kNumDtypes>());
inline constexpr std::array<ScaleKernel, kNumDtypes> WatchedKernels::kScales =
    all_scales(std::make_index_sequence<kNumDtypes>());

}  // namespace ringtree
