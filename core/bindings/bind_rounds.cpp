// A schedule cut into rounds, for interpreters of schedules that are written in Python.
#include <nanobind/stl/vector.h>

#include "core/bindings/bindings.h"
#include "core/schedule/rounds.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {

void bind_rounds(nb::module_& module) {
  nb::class_<RoundMessage>(module, "RoundMessage", "One message of a round; see core/schedule/rounds.h.")
      .def_ro("peer", &RoundMessage::peer)
      .def_ro("step", &RoundMessage::step)
      .def_ro("operand", &RoundMessage::operand)
      .def_ro("lands", &RoundMessage::lands);
  nb::class_<Round>(module, "Round", "What one rank does in a round: messages at once, then local steps.")
      .def_prop_ro("sends", [](const Round& self) { return self.sends; })
      .def_prop_ro("recvs", [](const Round& self) { return self.recvs; })
      .def_prop_ro("steps", [](const Round& self) { return self.steps; });
  module.def("rank_rounds", &rank_rounds, "schedule"_a, "rank"_a, nb::call_guard<nb::gil_scoped_release>(),
             "The rounds of a rank; round 0 has no messages. Raises UsageError if the schedule can't finish.");
}

}  // namespace ringtree::bindings
