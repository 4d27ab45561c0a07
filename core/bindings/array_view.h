// What the engine needs of a user's array: address, elements, dtype. Takes NumPy arrays (numpy_view.h), CPU tensors
// (torch_view.h) and whatever else offers the buffer protocol or DLPack alike; refuses what it would otherwise get
// silently wrong.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "core/base/dtype.h"

namespace ringtree::bindings {

struct ArrayView {  // who looks keeps the array alive
  void* data = nullptr;
  size_t count = 0;
  Dtype dtype = Dtype::kFloat32;
};

/// `what` names the argument in errors: UsageError if it is not an array, not on the CPU, not contiguous, of an unknown
/// dtype, or read-only though it is written.
ArrayView view_array(const nanobind::handle& array, const char* what, bool written);

}  // namespace ringtree::bindings
