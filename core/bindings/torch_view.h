// PyTorch's CPU tensors without DLPack: torch makes a DLPack capsule in Python, which takes 4 µs and more, some thirty
// times as long as a small all_reduce. Here a tensor is asked for its address, elements and dtype instead, in 0.3 µs.
// Needs no torch to build, and does not import it: who has a tensor has it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "core/bindings/array_view.h"

namespace ringtree::bindings {

/// None if `object` is no torch.Tensor or Parameter itself (subclasses may hold their data elsewhere: DLPack asks
/// them). `what` names the argument in errors: UsageError if it is not dense, contiguous and on the CPU, or of a dtype
/// that ringtree does not move.
std::optional<ArrayView> view_tensor(const nanobind::handle& object, const char* what);

}  // namespace ringtree::bindings
