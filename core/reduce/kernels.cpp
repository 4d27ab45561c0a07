// The choice of a kernel: finds out once what the processor can do, then looks up. No arithmetic here.
// Dispatch is written by hand because the compilers' own (target_clones) needs ifunc resolvers, which run before a
// sanitizer is ready, and which clang 14 and musl lack.
#include "core/reduce/kernels.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/reduce/kernel_table.h"

#if defined(__SANITIZE_THREAD__)
#include "core/reduce/watched_kernels.h"
#endif

#if defined(RINGTREE_X86_KERNELS)
#include <cpuid.h>
#endif

namespace ringtree {
namespace {

struct SupportedTables {
  std::array<const KernelTable*, 3> tables{};
  size_t count = 0;
  void add(const KernelTable& table) { tables[count++] = &table; }
};

#if defined(RINGTREE_X86_KERNELS)
// __builtin_cpu_supports asks the operating system too (does it save the wide registers?); F16C, which older compilers
// do not know there, uses the same registers as AVX2.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

bool has_avx2() { return __builtin_cpu_supports("avx2") && has_f16c(); }

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vbmi2");
}
#endif

SupportedTables find_supported_tables() {
  SupportedTables found;
  found.add(portable_kernel_table());
#if defined(RINGTREE_X86_KERNELS)
  if (has_avx2()) found.add(avx2_kernel_table());
  if (has_avx2() && has_avx512()) found.add(avx512_kernel_table());
#endif
  return found;
}

const KernelTable& fastest_table() { return *supported_kernel_tables().back(); }

#if defined(__SANITIZE_THREAD__)
FoldKernel watched(FoldKernel kernel, Dtype dtype, ReduceOp op) {
  return kernel ? WatchedKernels::fold(dtype, op) : nullptr;
}
FinishKernel watched(FinishKernel kernel, Dtype dtype) { return kernel ? WatchedKernels::finish(dtype) : nullptr; }
ScaleKernel watched(ScaleKernel kernel, Dtype dtype) { return kernel ? WatchedKernels::scale(dtype) : nullptr; }
#else
template <class Kernel, class... Kind>
Kernel watched(Kernel kernel, Kind...) {
  return kernel;
}
#endif

// By powers of two, which double holds exactly; the largest int64 it does not.
bool is_integer_of(double value, Dtype dtype, bool is_signed) {
  const double above = std::ldexp(1.0, static_cast<int>(8 * item_size(dtype)) - (is_signed ? 1 : 0));
  return value == std::trunc(value) && value < above && value >= (is_signed ? -above : 0.0);
}

}  // namespace

std::span<const KernelTable* const> supported_kernel_tables() {
  static const SupportedTables supported = find_supported_tables();
  return {supported.tables.data(), supported.count};
}

FoldKernel fold_kernel(Dtype dtype, ReduceOp op) {
  return watched(fastest_table().fold[static_cast<int>(dtype)][static_cast<int>(op)], dtype, op);
}

FinishKernel finish_kernel(Dtype dtype, ReduceOp op) {
  return op == ReduceOp::avg ? watched(fastest_table().finish[static_cast<int>(dtype)], dtype) : nullptr;
}

ScaleKernel scale_kernel(Dtype dtype, ReduceOp op) {
  return op == ReduceOp::premul_sum ? watched(fastest_table().scale[static_cast<int>(dtype)], dtype) : nullptr;
}

bool factor_fits(Dtype dtype, double factor) {
  switch (dtype) {
    case Dtype::kInt8:
    case Dtype::kInt16:
    case Dtype::kInt32:
    case Dtype::kInt64:
      return is_integer_of(factor, dtype, true);
    case Dtype::kUint8:
    case Dtype::kUint16:
    case Dtype::kUint32:
    case Dtype::kUint64:
      return is_integer_of(factor, dtype, false);
    case Dtype::kFloat64:
    case Dtype::kComplex128:
      return true;
    default:
      if (scale_kernel(dtype, ReduceOp::premul_sum) == nullptr) return false;
      return !std::isfinite(factor) || std::abs(factor) <= static_cast<double>(std::numeric_limits<float>::max());
  }
}

std::string why_undefined(Dtype dtype, ReduceOp op) {
  if (fold_kernel(dtype, op) != nullptr) return {};
  std::string defined;
  for (ReduceOp other : kReduceOps)
    if (fold_kernel(dtype, other) != nullptr)
      defined += (defined.empty() ? "" : ", ") + std::string(reduce_op_name(other));
  const std::string fact = std::string(reduce_op_name(op)) + " is not defined for " + dtype_name(dtype);
  return fact + (defined.empty() ? ": it can be moved but not reduced" : ": use one of " + defined);
}

}  // namespace ringtree
