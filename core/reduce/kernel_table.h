// All kernels of one instruction set as a table, and the list of the tables that this processor can run.
// Internal to core/reduce and its tests (which run every supported table, not only the fastest); others use kernels.h.
#pragma once

#include <span>

#include "core/reduce/kernels.h"

namespace ringtree {

struct KernelTable {
  const char* name;
  FoldKernel fold[kNumDtypes][kNumReduceOps];  // nullptr: not defined
  FinishKernel finish[kNumDtypes];             // avg's division; nullptr: avg is not defined
  ScaleKernel scale[kNumDtypes];               // premul_sum's multiplication; nullptr: premul_sum is not defined
};

/// Plain C++ for whatever the compiler targets.
const KernelTable& portable_kernel_table();
#if defined(RINGTREE_X86_KERNELS)
/// AVX2 and F16C.
const KernelTable& avx2_kernel_table();
/// Where AVX-512 gains; else as AVX2. Only for processors that have both.
const KernelTable& avx512_kernel_table();
#endif

/// The tables that this processor can run, the fastest last; never empty.
std::span<const KernelTable* const> supported_kernel_tables();

}  // namespace ringtree
