// Shared buffers as NumPy arrays of bytes; ringtree.empty() makes them arrays and tensors of a dtype.
#include <nanobind/ndarray.h>

#include "core/bindings/bindings.h"
#include "core/transport/shared_buffer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {

void bind_shared(nb::module_& module) {
  module.def(
      "allocate_shared",
      [](size_t num_bytes) {
        auto owner = std::make_unique<std::shared_ptr<Segment>>(allocate_shared(num_bytes));
        std::byte* const data = (*owner)->data();
        const nb::capsule keeper(owner.release(),
                                 [](void* kept) noexcept { delete static_cast<std::shared_ptr<Segment>*>(kept); });
        return nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(reinterpret_cast<uint8_t*>(data), {num_bytes}, keeper);
      },
      "num_bytes"_a, "Zeroed bytes in memory that other ranks can map.");
}

}  // namespace ringtree::bindings
