// What all ranks must agree on about a call, and what travels with its messages so that they notice if they do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/dtype.h"
#include "core/base/reduce_op.h"
#include "core/protocol/protocol.h"
#include "core/schedule/collective.h"

namespace ringtree {

/// What the ranks of a call must agree on. Two calls match if all fields do.
struct CallDescription {
  static constexpr uint64_t kUnknownCounts = 1;

  uint64_t sequence = 0;  // of the communicator, from 1
  Collective collective = Collective::all_reduce;
  Dtype dtype = Dtype::kFloat32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  uint64_t count = 0;        // elements of the vector, or of one rank's block, or of all blocks if they are uneven
  uint64_t counts_hash = 0;  // of uneven blocks' lengths; kUnknownCounts: no rank knows all; 0: even
  uint64_t plan_key = 0;     // of the schedule, its channels and the protocol
  uint64_t slice_bytes = 0;  // how it is cut
  Protocol protocol = Protocol::simple;
  char algorithm[32] = {};  // for people; cut off if longer

  /// Differs (but for collisions of 64 bits) where the descriptions differ in anything but their sequence.
  uint64_t kind_hash() const;
  /// The history of a communicator after one more call of the kind: ranks that ever disagreed differ in it for good, so
  /// that also ranks which only sent, and saw nothing of their disagreement, are told when they next receive.
  static uint64_t history(uint64_t before, uint64_t kind_hash) {
    const uint64_t both = (before ^ kind_hash) * 0x9e3779b97f4a7c15u;
    return both ^ both >> 29;  // the product's high bits count for the next one
  }
  /// What travels with each message of a call: of the history with it, or of what else both ends must know alike.
  static uint32_t fingerprint(uint64_t history, uint64_t sequence) {
    return static_cast<uint32_t>(((history ^ sequence) * 0x9e3779b97f4a7c15u) >> 32);
  }
  bool same_call(const CallDescription& other) const {
    return sequence == other.sequence && kind_hash() == other.kind_hash();
  }
  /// "all_reduce(count=1024, float32, sum, algorithm ring)"
  std::string to_string() const;
};

}  // namespace ringtree
