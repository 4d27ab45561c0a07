// See array_view.h.
#include "core/bindings/array_view.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/bindings/dlpack.h"
#include "core/bindings/numpy_view.h"
#include "core/bindings/torch_view.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

template <typename Array>
ArrayView view(const Array& array, const char* what) {
  if (array.device_type() != nb::device::cpu::value) throw UsageError(std::string(what) + " is not in CPU memory");
  if (!dlpack::is_contiguous(array.ndim(), array.shape_ptr(), array.stride_ptr()))
    throw UsageError(std::string(what) + " is not contiguous; pass a contiguous copy and copy the result back");
  const nb::dlpack::dtype type = array.dtype();
  const std::optional<Dtype> dtype = dlpack::dtype_of({type.code, type.bits, type.lanes});
  if (!dtype)
    throw UsageError(std::string(what) + " has an unsupported dtype (DLPack code " + std::to_string(type.code) + ", " +
                     std::to_string(type.bits) + " bits)");
  return {const_cast<void*>(static_cast<const void*>(array.data())), array.size(), *dtype};
}

}  // namespace

ArrayView view_array(const nb::handle& object, const char* what, bool written) {
  if (const auto array = view_numpy(object, written)) return *array;
  if (const auto tensor = view_tensor(object, what)) return *tensor;
  nb::ndarray<> writable;
  if (nb::try_cast(object, writable)) return view(writable, what);
  nb::ndarray<nb::ro> readable;
  if (nb::try_cast(object, readable)) {
    if (written) throw UsageError(std::string(what) + " is read-only");
    return view(readable, what);
  }
  const std::string type =
      nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__")));
  throw UsageError(std::string(what) + " must be a NumPy array or a CPU tensor, not " + type);
}

}  // namespace ringtree::bindings
