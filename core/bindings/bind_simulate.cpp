// The simulator: a schedule's traffic, laid out once, and its time on a network given as plain arrays. Not where the
// arrays come from: that is ringtree/simulate/cluster.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>

#include "core/bindings/bindings.h"
#include "core/bindings/record_bytes.h"
#include "core/simulate/simulate.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {
namespace {

template <class Item>
using Array = nb::ndarray<const Item, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Item>
std::vector<Item> copied(const Array<Item>& array) {
  return {array.data(), array.data() + array.size()};
}

std::vector<Field> slice_fields() {
  return {{"begin", "i8", offsetof(RecordedSlice, begin)},     {"end", "i8", offsetof(RecordedSlice, end)},
          {"bytes", "i8", offsetof(RecordedSlice, bytes)},     {"rank", "i4", offsetof(RecordedSlice, rank)},
          {"channel", "i4", offsetof(RecordedSlice, channel)}, {"lane", "i4", offsetof(RecordedSlice, lane)},
          {"step", "i4", offsetof(RecordedSlice, step)},       {"pass", "i4", offsetof(RecordedSlice, pass)},
          {"slice", "i4", offsetof(RecordedSlice, slice)}};
}

std::vector<Field> message_fields() {
  return {{"begin", "i8", offsetof(RecordedMessage, begin)},
          {"end", "i8", offsetof(RecordedMessage, end)},
          {"arrival", "i8", offsetof(RecordedMessage, arrival)},
          {"read", "i8", offsetof(RecordedMessage, read)},
          {"bytes", "i8", offsetof(RecordedMessage, bytes)},
          {"sent_by", "i4", offsetof(RecordedMessage, sent_by)},
          {"read_by", "i4", offsetof(RecordedMessage, read_by)},
          {"source", "i4", offsetof(RecordedMessage, src_rank)},
          {"target", "i4", offsetof(RecordedMessage, dst_rank)},
          {"channel", "i4", offsetof(RecordedMessage, channel)},
          {"limit", "i4", offsetof(RecordedMessage, limit)},
          {"read_limit", "i4", offsetof(RecordedMessage, read_limit)}};
}

void bind_recording(nb::module_& module) {
  nb::class_<Recording>(module, "Recording", "When each slice and message was; see core/simulate/recording.h.")
      .def(
          "__init__", [](Recording* self, int64_t most) { new (self) Recording{most, {}, {}}; }, "most"_a)
      .def_prop_ro(
          "slice_bytes", [](const Recording& self) { return record_bytes(self.slices); }, nb::rv_policy::move)
      .def_prop_ro(
          "message_bytes", [](const Recording& self) { return record_bytes(self.messages); }, nb::rv_policy::move);
  module.def(
      "recorded_slice", [] { return std::pair(sizeof(RecordedSlice), slice_fields()); },
      "Bytes of a slice's record; name, NumPy's format and offset of each field.");
  module.def(
      "recorded_message", [] { return std::pair(sizeof(RecordedMessage), message_fields()); },
      "Bytes of a message's record; name, NumPy's format and offset of each field.");
  module.attr("MOST_RECORDED") = Recording::kMost;
}

}  // namespace

void bind_simulate(nb::module_& module) {
  nb::class_<Traffic>(module, "Traffic", "A schedule laid out for the simulator; see core/simulate/traffic.h.")
      .def(nb::init<const Schedule&>(), "schedule"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("pairs", &pairs_of)
      .def_prop_ro("num_lanes", &Traffic::num_lanes);
  nb::class_<Accounts>(module, "Accounts", "What a simulated time went on; see core/simulate/critical_path.h.")
      .def_ro("launch", &Accounts::launch)
      .def_ro("latency", &Accounts::latency)
      .def_ro("link", &Accounts::link)
      .def_ro("copy", &Accounts::copy)
      .def_ro("reduce", &Accounts::reduce)
      .def_ro("slots", &Accounts::slots)
      .def_ro("links", &Accounts::links);
  nb::class_<Simulated>(module, "SimulatedTime", "What simulate() found; see core/simulate/simulate.h.")
      .def_ro("seconds", &Simulated::seconds)
      .def_ro("rank_seconds", &Simulated::rank_seconds)
      .def_ro("link_bytes", &Simulated::link_bytes)
      .def_ro("link_busy", &Simulated::link_busy)
      .def_ro("limit", &Simulated::limit)
      .def_ro("num_events", &Simulated::num_events)
      .def_ro("num_lanes", &Simulated::num_lanes);
  bind_recording(module);
  module.def(
      "simulate",
      [](const Traffic& traffic, size_t count, size_t item_size, int channels, size_t slice_bytes,
         const Array<double>& link_rate, const Array<double>& link_latency, const Array<int>& pair_src,
         const Array<int>& pair_dst, const Array<int64_t>& route_offsets, const Array<int>& route_links,
         const Array<double>& copy_rate, const Array<double>& reduce_rate, double launch_cost, double core_rate,
         const Array<double>& memory_bytes, const Array<double>& memory_rate, const Array<int>& link_core,
         double step_latency, double efficiency, size_t slot_bytes, int slots, bool use_symmetry,
         Recording* recording) {
        const SimulatedNetwork network{
            copied(link_rate),     copied(link_latency),
            copied(pair_src),      copied(pair_dst),
            copied(route_offsets), copied(route_links),
            copied(copy_rate),     copied(reduce_rate),
            launch_cost,           {core_rate, copied(memory_bytes), copied(memory_rate), copied(link_core)}};
        const nb::gil_scoped_release released;
        SimulateOptions options;
        options.use_symmetry = use_symmetry;
        options.recording = recording;
        return simulate(traffic, {count, item_size, channels, slice_bytes}, network,
                        {step_latency, efficiency, slot_bytes, slots}, options);
      },
      "traffic"_a, "count"_a, "item_size"_a, "channels"_a, "slice_bytes"_a, "link_rate"_a, "link_latency"_a,
      "pair_src"_a, "pair_dst"_a, "route_offsets"_a, "route_links"_a, "copy_rate"_a, "reduce_rate"_a, "launch_cost"_a,
      "core_rate"_a, "memory_bytes"_a, "memory_rate"_a, "link_core"_a, "step_latency"_a, "efficiency"_a, "slot_bytes"_a,
      "slots"_a, "use_symmetry"_a, "recording"_a.none());
}

}  // namespace ringtree::bindings
