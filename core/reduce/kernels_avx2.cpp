// The kernels compiled for one instruction set: AVX2 and F16C; CMakeLists.txt gives this file their flags.
// Nothing else may be in this file: what it defines outside its own namespace could be linked into code for any
// processor.
#define RINGTREE_ISA isa_avx2
#include "core/reduce/kernel_table_builder.h"

namespace ringtree {

const KernelTable& avx2_kernel_table() {
  static constexpr KernelTable kTable = RINGTREE_ISA::build_kernel_table("avx2");
  return kTable;
}

}  // namespace ringtree
