// Schedules: steps, programs and the schedule itself, as plain values. The builder that people write algorithms with is
// Python (ringtree/schedules/builder.py); it makes these same steps.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "core/bindings/bindings.h"
#include "core/schedule/cost_summary.h"
#include "core/schedule/layout.h"
#include "core/schedule/schedule.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {

Collective collective_from(const std::string& name) {
  if (const auto collective = collective_from_name(name)) return *collective;
  std::string known;
  for (Collective collective : kCollectives)
    known += (known.empty() ? "" : ", ") + std::string(collective_name(collective));
  throw UsageError("unknown collective " + name + "; there are " + known);
}

namespace {

using PlaceTuple = std::pair<std::string, int>;  // buffer, scratch slot

Place place_from(const std::optional<PlaceTuple>& place) {
  if (!place) return {};
  for (int buffer = 1; buffer < 4; ++buffer)
    if (place->first == kBufferNames[buffer]) return {static_cast<Buffer>(buffer), place->second};
  throw UsageError("unknown buffer " + place->first + "; there are input, output and scratch");
}

std::optional<PlaceTuple> place_to(const Place& place) {
  if (!place) return std::nullopt;
  return PlaceTuple{kBufferNames[static_cast<int>(place.buffer)], place.slot};
}

Verb verb_from(const std::string& name) {
  if (const auto verb = verb_from_name(name)) return *verb;
  std::string known;
  for (const VerbShape& shape : kVerbs) known += (known.empty() ? "" : ", ") + std::string(shape.name);
  throw UsageError("unknown verb " + name + "; there are " + known);
}

void bind_step(nb::module_& module) {
  nb::class_<Step>(module, "Step", "One step of one rank's program.")
      .def(
          "__init__",
          [](Step* self, const std::string& verb, int lane, std::tuple<int, int, int> chunks,
             const std::vector<std::pair<int, int>>& recv, const std::optional<PlaceTuple>& src, int src_at,
             const std::optional<PlaceTuple>& dst, std::vector<int> send_to, int send_tag) {
            new (self) Step{verb_from(verb),
                            lane,
                            {std::get<0>(chunks), std::get<1>(chunks), std::get<2>(chunks)},
                            {},
                            place_from(src),
                            src_at,
                            place_from(dst),
                            std::move(send_to),
                            send_tag};
            for (const auto& [peer, tag] : recv) self->recv.push_back({peer, tag});
          },
          "verb"_a, "lane"_a, "chunks"_a, "recv"_a, "src"_a.none(), "src_at"_a, "dst"_a.none(), "send_to"_a,
          "send_tag"_a)
      .def_prop_ro("verb", [](const Step& self) { return std::string(verb_name(self.verb)); })
      .def_ro("lane", &Step::lane)
      .def_prop_ro(
          "chunk_range",
          [](const Step& self) { return std::tuple(self.chunks.first, self.chunks.count, self.chunks.stride); })
      .def_prop_ro("recv",
                   [](const Step& self) {
                     std::vector<std::pair<int, int>> ends;
                     for (const Endpoint& end : self.recv) ends.emplace_back(end.peer, end.tag);
                     return ends;
                   })
      .def_prop_ro("src", [](const Step& self) { return place_to(self.src); })
      .def_ro("src_at", &Step::src_at)
      .def_prop_ro("dst", [](const Step& self) { return place_to(self.dst); })
      .def_prop_ro("send_to", [](const Step& self) { return self.send_to; })
      .def_ro("send_tag", &Step::send_tag)
      .def(
          "__eq__",
          [](const Step& self, const nb::object& other) {
            return nb::isinstance<Step>(other) && self == nb::cast<const Step&>(other);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"));
}

/// A collective as Python sees it. Of two ranks one block is less than all there is.
struct Traits {
  Collective of;
  bool is_block(ChunkSpan span) const { return has_blocks(of) && span.count == 1; }
  int num_chunks() const { return static_cast<int>(num_blocks(of, 2)); }
};

void bind_collectives(nb::module_& module) {
  nb::class_<Traits>(module, "CollectiveTraits", "What a collective is; see core/schedule/collective.h.")
      .def_prop_ro("name", [](const Traits& self) { return std::string(collective_name(self.of)); })
      .def_prop_ro("reduces", [](const Traits& self) { return reduces(self.of); })
      .def_prop_ro("has_root", [](const Traits& self) { return has_root(self.of); })
      .def_prop_ro("has_blocks", [](const Traits& self) { return has_blocks(self.of); })
      .def_prop_ro("takes_block",
                   [](const Traits& self) { return self.is_block(input_span(self.of, 2, self.num_chunks(), 0, 0)); })
      .def_prop_ro("gives_block",
                   [](const Traits& self) { return self.is_block(output_span(self.of, 2, self.num_chunks(), 0, 0)); })
      .def_prop_ro("can_be_in_place", [](const Traits& self) { return can_be_in_place(self.of); });
  module.def("collectives", [] {
    std::vector<Traits> all;
    for (Collective collective : kCollectives) all.push_back({collective});
    return all;
  });
}

void bind_cost(nb::module_& module) {
  nb::class_<CostSummary>(module, "CostSummary",
                          "Steps, hops and shares of the data; see core/schedule/cost_summary.h.")
      .def_ro("steps", &CostSummary::steps)
      .def_ro("hops", &CostSummary::hops)
      .def_ro("sent", &CostSummary::sent)
      .def_ro("written", &CostSummary::written)
      .def_ro("read", &CostSummary::read)
      .def_ro("total_written", &CostSummary::total_written)
      .def_ro("total_read", &CostSummary::total_read)
      .def_ro("total_in_slots", &CostSummary::total_in_slots)
      .def_ro("total_received", &CostSummary::total_received)
      .def_ro("total_one_way", &CostSummary::total_one_way)
      .def_ro("messages", &CostSummary::messages)
      .def_ro("links", &CostSummary::links);
  module.def(
      "is_pipelined", [](const Schedule& schedule) { return is_pipelined(schedule); }, "schedule"_a,
      nb::call_guard<nb::gil_scoped_release>());
  module.def("measure_cost", &measure, "schedule"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_schedule(nb::module_& module) {
  bind_step(module);
  nb::class_<Schedule>(module, "Schedule", "A collective algorithm as data: one checked program a rank.")
      .def(
          "__init__",
          [](Schedule* self, const std::string& name, const std::string& collective, int num_ranks, int root,
             int num_chunks, int widest, std::vector<std::vector<Step>> steps, std::vector<int> num_scratch,
             std::vector<int> switches, int shares) {
            ScheduleShape shape;
            shape.name = name;
            shape.collective = collective_from(collective);
            shape.num_ranks = num_ranks;
            shape.root = root;
            shape.num_chunks = num_chunks;
            shape.widest = widest;
            shape.switches = std::move(switches);
            shape.shares = shares;
            new (self) Schedule(std::move(shape), std::move(steps), std::move(num_scratch));
          },
          "name"_a, "collective"_a, "num_ranks"_a, "root"_a, "num_chunks"_a, "widest"_a, "steps"_a, "num_scratch"_a,
          "switches"_a = std::vector<int>{}, "shares"_a = 1)
      .def_prop_ro("name", [](const Schedule& self) { return self.shape().name; })
      .def_prop_ro("collective",
                   [](const Schedule& self) { return std::string(collective_name(self.shape().collective)); })
      .def_prop_ro("num_ranks", [](const Schedule& self) { return self.shape().num_ranks; })
      .def_prop_ro("root", [](const Schedule& self) { return self.shape().root; })
      .def_prop_ro("num_chunks", [](const Schedule& self) { return self.shape().num_chunks; })
      .def_prop_ro("widest", [](const Schedule& self) { return self.shape().widest; })
      .def_prop_ro("switches", [](const Schedule& self) { return self.shape().switches; })
      .def_prop_ro("shares", [](const Schedule& self) { return self.shape().shares; })
      .def(
          "steps", [](const Schedule& self, int rank) { return self.program(rank).steps(); }, "rank"_a)
      .def(
          "num_scratch", [](const Schedule& self, int rank) { return self.program(rank).num_scratch(); }, "rank"_a)
      .def(
          "dependencies",
          [](const Schedule& self, int rank) {
            // Scratch that is used again in the next pass matters only to who runs passes, so those dependencies are
            // left out.
            std::vector<std::vector<int>> all;
            const Program program = self.program(rank);
            for (const auto& of_step : program.dependencies()) {
              std::vector<int>& out = all.emplace_back();
              for (const Dependency& dependency : of_step)
                if (!dependency.previous_pass) out.push_back(dependency.step);
            }
            return all;
          },
          "rank"_a)
      .def(
          "layout",
          [](const Schedule& self, size_t count) {
            const Layout layout(self.shape(), count);
            std::vector<std::pair<size_t, size_t>> extents;
            for (int id = 0; id < self.shape().num_chunks; ++id)
              extents.emplace_back(layout.chunk(id).offset, layout.chunk(id).length);
            return extents;
          },
          "count"_a)
      .def("structural_hash", &Schedule::structural_hash);
  bind_cost(module);

  module.def("verbs", [] {
    std::vector<std::string> all;
    for (const VerbShape& shape : kVerbs) all.emplace_back(shape.name);
    return all;
  });
  bind_collectives(module);
}

}  // namespace ringtree::bindings
