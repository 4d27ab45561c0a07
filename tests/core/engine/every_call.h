// Calls of every collective by every algorithm, with sizes, roots and places at which something can go wrong: for tests
// that run them all in one world or another.
#pragma once

#include <vector>

#include "tests/core/engine/exact_data.h"
#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {

// Of 8 bytes, several passes for every algorithm (of two ranks where sanitizers make everything slow).
inline constexpr size_t kLarge = kSanitized ? 70'001 : 300'007;
inline constexpr size_t kMedium = kSanitized ? 20'003 : 100'003;
inline constexpr size_t kMaxShift = 64;

inline std::vector<size_t> counts(Collective collective, int n) {
  const size_t ranks = static_cast<size_t>(n), share = has_blocks(collective) ? ranks : 1;
  return {0, 1, ranks - 1, 17, 4097, kMedium / share, kLarge / share};
}

inline std::vector<int> roots(Collective collective, int n) {
  if (!has_root(collective) || n == 1) return {0};
  if (n == 2) return {0, 1};
  return {0, n / 2, n - 1};
}

inline std::vector<CheckedCall> every_call(int n, Protocol protocol, Dtype dtype) {
  std::vector<CheckedCall> calls;
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives)
      for (size_t count : counts(collective, n))
        for (int root : roots(collective, n))
          for (bool in_place : {false, true}) {
            if (count == kLarge && root != roots(collective, n).back())
              continue;  // one root is enough where it is slow
            CheckedCall call{collective, by(algorithm.name, protocol), dtype, count, root, in_place, 0, 0};
            call.shift = calls.size() % kMaxShift;
            calls.push_back(call);
            if (!has_blocks(collective) || (kSanitized && calls.size() % 4 != 0)) continue;
            call.uneven = true;
            call.count /= 2;  // the longest blocks have three halves of it
            calls.push_back(call);
          }
  return calls;
}

}  // namespace ringtree::testing
