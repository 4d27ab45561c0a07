// The verifier.
#include <nanobind/stl/string.h>

#include "core/bindings/bindings.h"
#include "core/verify/verify.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {

void bind_verify(nb::module_& module) {
  nb::class_<Verdict>(module, "Verdict", "What the verifier found; see core/verify/verify.h.")
      .def_ro("ok", &Verdict::ok)
      .def_ro("kind", &Verdict::kind)
      .def_ro("problem", &Verdict::problem)
      .def_ro("rank", &Verdict::rank)
      .def_ro("step", &Verdict::step)
      .def_ro("num_steps", &Verdict::num_steps)
      .def_ro("num_messages", &Verdict::num_messages)
      .def_ro("num_links", &Verdict::num_links);
  module.def("verify", &verify, "schedule"_a, nb::call_guard<nb::gil_scoped_release>());
  module.def("require_verified", &require_verified, "schedule"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace ringtree::bindings
