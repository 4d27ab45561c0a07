// PyTorch's CPU tensors without DLPack's capsules, which torch makes in Python. Newer ones have DLPack's
// functions for C (dlpack.h); without, and where those refuse, a tensor is asked for its address, elements and dtype,
// and says why it has none. What that is worth: docs/engine.md. Needs no torch to build, and does not import it: who
// has a tensor has it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "core/bindings/array_view.h"

namespace ringtree::bindings {

/// None if `object` is not a torch.Tensor, a Parameter, or of a subclass that changes no way to its elements (others
/// may have theirs elsewhere: their capsule says). `what` names the argument in errors: UsageError if it is not dense,
/// contiguous and on the CPU, or of a dtype that ringtree does not move.
std::optional<ArrayView> view_tensor(const nanobind::handle& object, const char* what);

}  // namespace ringtree::bindings
