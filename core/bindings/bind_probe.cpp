// The probes of the machine. They run without the GIL: other threads of Python go on, and may be what is measured.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "core/bindings/bindings.h"
#include "core/probe/copy_rate.h"
#include "core/probe/handoff.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {

void bind_probe(nb::module_& module) {
  nb::class_<HandoffProbe>(module, "HandoffProbe",
                           "Bounces a cache line between two cores; see ringtree.probe.Handoff.")
      .def(nb::init<int, int, double>(), "core_a"_a, "core_b"_a, "patience"_a = 0.05,
           nb::call_guard<nb::gil_scoped_release>())
      .def("measure", &HandoffProbe::measure, "seconds"_a, nb::call_guard<nb::gil_scoped_release>());
  module.def("copy_rate", &copy_rate, "num_bytes"_a, "cores"_a, "seconds"_a, "memory_cap"_a, "patience"_a = 10.0,
             nb::call_guard<nb::gil_scoped_release>());
  module.def("copy_rate_memory", &copy_rate_memory, "num_bytes"_a, "num_cores"_a);
}

}  // namespace ringtree::bindings
