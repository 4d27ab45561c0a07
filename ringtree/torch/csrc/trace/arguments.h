// What the arguments of a call say, read where PyTorch's dispatcher has them: on its stack.
//
// For: group, bytes, dtype, device and number of tensors of one call. Not for: which argument of which operator means
// what: ringtree/joblog/operators.py has the table. Where Python reads the same (ringtree/joblog/counting.py), tests
// hold the two against each other.
#pragma once

#include <ATen/core/stack.h>

#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <vector>

#include "calls.h"

namespace ringtree_torch {

/// What an argument is; the numbers are operators.py's.
enum class Role : int { kGives = 0, kGets = 1, kBoth = 2, kProcessGroup = 3, kOther = 4 };

/// An operator `c10d::…`.
struct TracedOperator {
  std::string name;         // without c10d::
  std::string collective;   // in ringtree's words
  std::vector<Role> roles;  // of its arguments, in their order
  /// Its tensor says the device and nothing else.
  bool is_barrier() const { return collective == "barrier"; }
};

/// What a call says; its group has no number yet.
struct ReadCall {
  TracedCall call;
  c10::intrusive_ptr<c10d::ProcessGroup> group;
};

/// Reads the arguments on top of the stack, which stay there. Throws c10::Error if they are not what the roles say.
ReadCall read_arguments(const TracedOperator& op, const c10::Stack& stack);

}  // namespace ringtree_torch
