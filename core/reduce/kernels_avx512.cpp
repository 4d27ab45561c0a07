// The kernels compiled for one instruction set: AVX-512 (F, BW, VBMI2); CMakeLists.txt gives this file their flags.
// Only what gains by it; the rest is the AVX2 table's, since float32 and float16 were as fast there (Zen 4). Nothing
// else may be in this file: what it defines outside its own namespace could be linked into code for any processor.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns of its own intrinsics (its bug 105593)
#endif
#define RINGTREE_ISA isa_avx512
#include "core/reduce/bfloat16_avx512.h"
#include "core/reduce/kernel_table.h"

namespace ringtree {

const KernelTable& avx512_kernel_table() {
  static const KernelTable table = [] {
    KernelTable faster = avx2_kernel_table();
    faster.name = "avx512";
    FoldKernel(&bfloat16)[kNumReduceOps] = faster.fold[static_cast<int>(Dtype::kBfloat16)];
    bfloat16[static_cast<int>(ReduceOp::sum)] = RINGTREE_ISA::fold_bfloat16_avx512<RINGTREE_ISA::Add>;
    bfloat16[static_cast<int>(ReduceOp::avg)] = RINGTREE_ISA::fold_bfloat16_avx512<RINGTREE_ISA::Add>;
    bfloat16[static_cast<int>(ReduceOp::premul_sum)] = RINGTREE_ISA::fold_bfloat16_avx512<RINGTREE_ISA::Add>;
    bfloat16[static_cast<int>(ReduceOp::prod)] = RINGTREE_ISA::fold_bfloat16_avx512<RINGTREE_ISA::Multiply>;
    return faster;
  }();
  return table;
}

}  // namespace ringtree
