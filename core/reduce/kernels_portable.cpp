// The kernels compiled for one instruction set: plain C++ for whatever the compiler targets; also the only one outside
// x86-64. Nothing else may be in this file: what it defines outside its own namespace could be linked into code for any
// processor.
#define RINGTREE_ISA isa_portable
#include "core/reduce/kernel_table_builder.h"

namespace ringtree {

const KernelTable& portable_kernel_table() {
  static constexpr KernelTable kTable = RINGTREE_ISA::build_kernel_table("portable");
  return kTable;
}

}  // namespace ringtree
