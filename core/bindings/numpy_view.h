// NumPy's own arrays by the fields that NumPy's C API shows of them: an address, dimensions and a number of a type,
// without an object made for the look. Needs no NumPy to build, and does not import it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "core/bindings/array_view.h"

namespace ringtree::bindings {

/// None if `object` is not a numpy.ndarray itself, or one that is not plain: not contiguous, read-only though it is
/// `written`, of another byte order, of no dtype of ringtree's, or of a NumPy whose arrays are laid out in a way not
/// known here. Who asks on by other ways learns why.
std::optional<ArrayView> view_numpy(const nanobind::handle& object, bool written);

}  // namespace ringtree::bindings
