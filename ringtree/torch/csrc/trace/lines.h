// Calls as lines of a job trace's file: the lines "call" of ringtree/joblog/records.py, which has their shape.
//
// For: text that Python appends to the file as it is. Not for: the file's other lines (ringtree/joblog/writing.py).
#pragma once

#include <string>
#include <vector>

#include "arguments.h"
#include "calls.h"

namespace ringtree_torch {

/// A line of JSON for each call, in their order. `operators`: by the calls' `kind`. Needs the GIL, for PyTorch's names
/// of dtypes.
std::string lines_of(const std::vector<TracedCall>& calls, const std::vector<TracedOperator>& operators);

}  // namespace ringtree_torch
