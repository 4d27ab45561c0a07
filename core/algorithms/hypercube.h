// Ranks as the corners of a hypercube, for algorithms that pair ranks by the bits of their numbers; not an algorithm
// itself. If n is not a power of two, the first `extras` odd ranks have no corner of their own: each gives its input to
// the rank before it and gets the result from there.
//
//   n = 6: 4 corners, 2 extras      rank    0  1  2  3  4  5
//                                   corner  0  -  1  -  2  3      1 goes with 0, 3 goes with 2
//
// Corners are numbered in rank order, so that 2^k neighbouring corners are neighbouring ranks.
#pragma once

#include "core/algorithms/steps.h"

namespace ringtree {

struct Hypercube {
  explicit Hypercube(int num_ranks)
      : dimensions(floor_log2(num_ranks)), corners(1 << dimensions), extras(num_ranks - corners) {}

  bool is_extra(int rank) const { return rank < 2 * extras && rank % 2 == 1; }
  /// An extra's corner is the one that it goes with.
  int corner(int rank) const { return rank < 2 * extras ? rank / 2 : rank - extras; }
  int rank(int corner) const { return corner < extras ? 2 * corner : corner + extras; }
  /// True if rank(corner) + 1 is an extra that goes with it.
  bool has_extra(int corner) const { return corner < extras; }

  int dimensions, corners, extras;
};

}  // namespace ringtree
