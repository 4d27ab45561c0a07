// One collective call of one rank, and what all ranks must agree on about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/dtype.h"
#include "core/base/reduce_op.h"
#include "core/schedule/collective.h"

namespace ringtree {

/// What the ranks of a call must agree on. Two calls match if all fields do.
struct CallDescription {
  uint64_t sequence = 0;  // of the communicator, from 1
  Collective collective = Collective::all_reduce;
  Dtype dtype = Dtype::kFloat32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  uint64_t count = 0;       // elements of the vector, or of one rank's block
  uint64_t plan_key = 0;    // of the schedule and its channels
  char algorithm[24] = {};  // for people; cut off if longer

  /// Differs (but for collisions of 64 bits) where the descriptions differ.
  uint64_t fingerprint() const;
  /// "all_reduce(count=1024, float32, sum, algorithm ring)"
  std::string to_string() const;
};

}  // namespace ringtree
