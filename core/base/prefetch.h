// Fetching a cache line ahead in order to write it: the line comes over owned, so that the store does not have to ask
// for it again. Harmless for any address.
#pragma once

#include <cstddef>

namespace ringtree {

inline void fetch_for_writing(const void* at) {
#if defined(__x86_64__)
  // The builtin would fetch for reading, unless the whole program is compiled for newer processors.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

/// Each line of it.
template <class Thing>
void fetch_whole(const Thing& thing) {
  const char* const from = reinterpret_cast<const char*>(&thing);
  for (size_t at = 0; at < sizeof thing; at += 64) fetch_for_writing(from + at);
}

}  // namespace ringtree
