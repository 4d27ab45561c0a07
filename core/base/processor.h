// Who made this processor, for the few choices where makers differ by more than they gain and no cheaper sign tells.
#pragma once

namespace ringtree {

/// AMD (measured: Zen 3): `rep movsb` is slow at some offsets, and one core's non-temporal stores are twice as fast as
/// its ordinary ones to memory (a loop of 64 KB, 2026-11-27: 19 against 9 GB/s).
inline bool is_amd() {
#ifdef __x86_64__
  static const bool amd = __builtin_cpu_is("amd");
  return amd;
#else
  return false;
#endif
}

/// AMD up to Zen 3: Zen 4 was AMD's first with AVX-512.
inline bool is_amd_before_zen4() {
#ifdef __x86_64__
  static const bool before = is_amd() && !__builtin_cpu_supports("avx512f");
  return before;
#else
  return false;
#endif
}

}  // namespace ringtree
