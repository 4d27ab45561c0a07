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

/// Whether every_call leaves out the call with `sizes[at]` as there is one like it: where it is slow one root is
/// enough. To a sanitizer each byte is slow: there medium sizes count too, and large ones are in place and out of place
/// by turns.
inline bool like_another(const std::vector<size_t>& sizes, size_t at, bool last_root, bool in_place, bool turn) {
  if (!kSanitized) return sizes[at] == kLarge && !last_root;
  const bool large = at + 1 == sizes.size(), medium = at + 2 == sizes.size();
  return (large && in_place != turn) || ((large || medium) && !last_root);
}

inline std::vector<CheckedCall> every_call(int n, Protocol protocol, Dtype dtype) {
  std::vector<CheckedCall> calls;
  bool turn = false;
  for (const Algorithm& algorithm : algorithms())
    for (Collective collective : algorithm.collectives) {
      turn = !turn;
      const std::vector<size_t> sizes = counts(collective, n);
      for (size_t at = 0; at < sizes.size(); ++at)
        for (int root : roots(collective, n))
          for (bool in_place : {false, true}) {
            if (like_another(sizes, at, root == roots(collective, n).back(), in_place, turn)) continue;
            CheckedCall call{collective, by(algorithm.name, protocol), dtype, sizes[at], root, in_place, 0, 0};
            call.shift = calls.size() % kMaxShift;
            calls.push_back(call);
            if (!has_blocks(collective) || (kSanitized && calls.size() % 4 != 0)) continue;
            call.uneven = true;
            call.count /= 2;  // the longest blocks have three halves of it
            calls.push_back(call);
          }
    }
  return calls;
}

}  // namespace ringtree::testing
