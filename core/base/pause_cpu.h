// A moment's rest inside a loop that spins: the core's other thread gets its turn, and the loop ends without a
// misguess.
#pragma once

namespace ringtree {

inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace ringtree
