// Groups of calls; see ringtree/comm/group.py, which keeps communicators and arrays alive until the group has run.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "core/bindings/bindings.h"
#include "core/bindings/call_arguments.h"
#include "core/engine/group.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {

void bind_group(nb::module_& module) {
  nb::class_<Group>(module, "Group", "Calls that run together; see ringtree.Group.")
      .def(nb::init<>())
      .def(
          "add_transfer",
          [](Group& self, Communicator& communicator, bool sends, int peer, const nb::object& array, double timeout) {
            const ArrayView view = view_array(array, sends ? "what is sent" : "what is received into", !sends);
            self.add(communicator, {sends, peer, view.dtype, view.count, view.data}, timeout);
          },
          "communicator"_a, "sends"_a, "peer"_a, "array"_a, "timeout"_a)
      .def("run", &Group::run, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace ringtree::bindings
