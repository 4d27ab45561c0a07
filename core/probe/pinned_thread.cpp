// See pinned_thread.h.
#include "core/probe/pinned_thread.h"

#include <sched.h>

#include <vector>

namespace ringtree {

bool pin_to_core(int core) {
  // Counted in sets of CPU_SETSIZE (1,024) cores, because a plain cpu_set_t ends there and large hosts do not.
  constexpr int kMostCores = 1 << 16;
  if (core < 0 || core >= kMostCores) return false;
  std::vector<cpu_set_t> sets(static_cast<size_t>(core / CPU_SETSIZE) + 1);
  const size_t num_bytes = sets.size() * sizeof(cpu_set_t);
  CPU_ZERO_S(num_bytes, sets.data());
  CPU_SET_S(static_cast<size_t>(core), num_bytes, sets.data());
  return sched_setaffinity(0, num_bytes, sets.data()) == 0 && is_on_core(core);
}

bool is_on_core(int core) { return sched_getcpu() == core; }

}  // namespace ringtree
