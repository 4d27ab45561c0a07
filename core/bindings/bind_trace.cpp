// Traces: what Communicator.take_trace() returns. Events travel as the bytes of an array of TraceEvent, whose layout is
// told beside; ringtree/comm/rank_trace.py makes a structured NumPy array of them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <iterator>

#include "core/bindings/bindings.h"
#include "core/bindings/record_bytes.h"
#include "core/engine/trace.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

std::vector<Field> event_fields() {
  return {{"begin_ns", "i8", offsetof(TraceEvent, begin_ns)},
          {"end_ns", "i8", offsetof(TraceEvent, end_ns)},
          {"virtual_ns", "i8", offsetof(TraceEvent, virtual_ns)},
          {"call", "u8", offsetof(TraceEvent, call)},
          {"pass", "u4", offsetof(TraceEvent, pass)},
          {"slice", "u4", offsetof(TraceEvent, slice)},
          {"bytes", "u4", offsetof(TraceEvent, bytes)},
          {"step", "i4", offsetof(TraceEvent, step)},
          {"awaited_step", "i4", offsetof(TraceEvent, awaited_step)},
          {"peer", "i4", offsetof(TraceEvent, peer)},
          {"channel", "i2", offsetof(TraceEvent, channel)},
          {"lane", "i2", offsetof(TraceEvent, lane)},
          {"kind", "u1", offsetof(TraceEvent, kind)}};
}

}  // namespace

void bind_trace(nb::module_& module) {
  nb::class_<TracedCall>(module, "TracedCall", "A call of which there are events; see ringtree.TracedCall.")
      .def_prop_ro("sequence", [](const TracedCall& self) { return self.description.sequence; })
      .def_prop_ro("collective",
                   [](const TracedCall& self) { return std::string(collective_name(self.description.collective)); })
      .def_prop_ro("description", [](const TracedCall& self) { return self.description.to_string(); })
      .def_prop_ro("protocol",
                   [](const TracedCall& self) { return std::string(protocol_name(self.description.protocol)); })
      .def_prop_ro("schedule", [](const TracedCall& self) { return *self.schedule; })
      .def_prop_ro("slice_bytes", [](const TracedCall& self) { return self.cut.slice_bytes; })
      .def_prop_ro("pass_bytes", [](const TracedCall& self) { return self.cut.pass_bytes; })
      .def_prop_ro("num_passes", [](const TracedCall& self) { return self.cut.num_passes; })
      .def_ro("num_channels", &TracedCall::num_channels)
      .def_ro("complete", &TracedCall::complete);
  nb::class_<Trace>(module, "Trace", "What one rank did in its calls; see ringtree.RankTrace.")
      .def_ro("rank", &Trace::rank)
      .def_prop_ro("calls", [](const Trace& self) { return self.calls; })
      .def_prop_ro(
          "event_bytes", [](const Trace& self) { return record_bytes(self.events); }, nb::rv_policy::move)
      .def_ro("num_lost", &Trace::num_lost);
  module.def("trace_event_fields", &event_fields, "Name, NumPy's format and offset of each field of an event.");
  module.def("trace_event_bytes", [] { return sizeof(TraceEvent); });
  module.def(
      "trace_kinds", [] { return std::vector<std::string>(std::begin(kTraceKindNames), std::end(kTraceKindNames)); },
      "Names of the kinds of events, by number.");
}

}  // namespace ringtree::bindings
