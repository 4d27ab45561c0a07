// A user's arrays as a call of a collective: how many elements each must have, and what the call is then about. What is
// asked for beside the arrays: asked_calls.h.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "core/engine/communicator.h"

namespace ringtree::bindings {

/// A schedule of the user's own, verified once.
struct OwnSchedule {
  explicit OwnSchedule(const Schedule& own);
  std::shared_ptr<const Schedule> schedule;
  uint64_t hash = 0;
};

/// The arguments of a call as Python passes them, borrowed. How: (protocol, "auto" for the engine's choice;
/// slice_bytes, 0: the engine's choice; streaming, None: the engine's choice; timeout; counts, None: equal blocks;
/// factor).
struct CallArguments {
  nanobind::handle collective, input, output, op, root, algorithm, how;
};

/// A Call of arrays that the caller keeps alive, to be made with the GIL held. Throws UsageError that says which array
/// does not fit, TypeError for what has the wrong type; what else must hold is the communicator's to check.
struct ArrayCall {
  ArrayCall(const Communicator& communicator, const CallArguments& arguments);

  Call call;
  size_t num_bytes = 0;  // of the larger of its arrays

 private:
  std::vector<uint64_t> counts_;
};

}  // namespace ringtree::bindings
