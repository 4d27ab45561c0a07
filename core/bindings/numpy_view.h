// NumPy's own arrays by its array interface for C, __array_struct__: an address, a kind and an item size, without the
// format strings of the buffer protocol or a DLPack capsule. Needs no NumPy to build, and does not import it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "core/bindings/array_view.h"

namespace ringtree::bindings {

/// None if `object` is not a numpy.ndarray itself, or one that is not plain: not contiguous, read-only though it is
/// `written`, of another byte order or of no dtype of ringtree's. Who asks on by other ways learns why.
std::optional<ArrayView> view_numpy(const nanobind::handle& object, bool written);

}  // namespace ringtree::bindings
