// The operations that combine ranks' contributions: their stable numbers and names.
// Not what they compute: core/reduce/kernels.h states that for each dtype.
//
// The numbers travel between ranks and into stored results, so they are never reused or changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringtree {

enum class ReduceOp : uint8_t {
  sum = 0,
  prod = 1,
  min = 2,
  max = 3,
  avg = 4,
  premul_sum = 5,  // the sum of the inputs, each multiplied by a factor of its rank's own
  band = 6,        // and, or, exclusive or of the bits
  bor = 7,
  bxor = 8,
  land = 9,  // and, or, exclusive or of truth values; "l" as in MPI_LAND
  lor = 10,
  lxor = 11,
};

/// Every op, in the order of its number: kReduceOps[i] has number i.
inline constexpr ReduceOp kReduceOps[] = {ReduceOp::sum,  ReduceOp::prod,       ReduceOp::min,  ReduceOp::max,
                                          ReduceOp::avg,  ReduceOp::premul_sum, ReduceOp::band, ReduceOp::bor,
                                          ReduceOp::bxor, ReduceOp::land,       ReduceOp::lor,  ReduceOp::lxor};
inline constexpr int kNumReduceOps = static_cast<int>(sizeof(kReduceOps) / sizeof(kReduceOps[0]));

/// The name as it is written in Python, on the command line and in JSON.
inline const char* reduce_op_name(ReduceOp op) {
  constexpr const char* kNames[] = {"sum",  "prod", "min",  "max",  "avg", "premul_sum",
                                    "band", "bor",  "bxor", "land", "lor", "lxor"};
  static_assert(sizeof(kNames) / sizeof(kNames[0]) == kNumReduceOps);
  return kNames[static_cast<int>(op)];
}

/// The op of that exact name, or nothing: an unknown name is the caller's error to report.
inline std::optional<ReduceOp> reduce_op_from_name(std::string_view name) {
  for (ReduceOp op : kReduceOps)
    if (name == reduce_op_name(op)) return op;
  return std::nullopt;
}

}  // namespace ringtree
