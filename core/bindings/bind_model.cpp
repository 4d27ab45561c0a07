// The models: what a schedule costs in closed form on this machine, and by the sliced recurrence on an emulated
// cluster.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "core/algorithms/registry.h"
#include "core/bindings/bindings.h"
#include "core/builtin/machine_here.h"
#include "core/model/estimate.h"
#include "core/model/recurrence.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {

void bind_model(nb::module_& module) {
  nb::class_<Machine>(module, "Machine", "The constants of the closed-form model.")
      .def_prop_ro("num_cores", [](const Machine& self) { return self.num_cores; })
      .def_prop_ro("source", [](const Machine& self) { return self.source; });
  module.def("default_machine", &default_machine, "The constants that are built in.");
  module.def(
      "machine_here",
      [] {
        const MachineHere here = machine_here();
        return std::pair(here.machine, here.told);
      },
      nb::call_guard<nb::gil_scoped_release>(),
      "The constants of this machine, built in or kept or probed now, and a line about where they come from.");
  module.def(
      "time_on_cluster",
      [](const Schedule& schedule, size_t count, size_t item_size, int num_hosts, int ranks_per_host, double alpha,
         double beta) {
        return time_schedule(schedule, count, item_size, {num_hosts, ranks_per_host, alpha, beta}).seconds;
      },
      "schedule"_a, "count"_a, "item_size"_a, "num_hosts"_a, "ranks_per_host"_a, "alpha"_a, "beta"_a,
      nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "estimate_seconds",
      [](const CostSummary& summary, int num_ranks, size_t num_bytes, const Machine& machine) {
        return estimate_seconds(summary, num_ranks, num_bytes, machine);
      },
      "summary"_a, "num_ranks"_a, "num_bytes"_a, "machine"_a);
  module.def(
      "choose",
      [](const std::string& collective, int num_ranks, size_t num_bytes, const Machine& machine) {
        const Collective kind = collective_from(collective);
        std::vector<Candidate> candidates;
        for (const Algorithm& algorithm : algorithms())
          if (algorithm.is_candidate(kind, HostGroups::single(num_ranks)))
            candidates.push_back({algorithm.name, algorithm.cost(kind, num_ranks)});
        const Choice choice = choose(candidates, num_ranks, num_bytes, machine);
        return std::pair(candidates[static_cast<size_t>(choice.index)].name, choice.reason);
      },
      "collective"_a, "num_ranks"_a, "num_bytes"_a, "machine"_a);
  module.def(
      "choose_on_hosts",
      [](const std::string& collective, std::vector<int> hosts, size_t num_bytes,
         const std::optional<std::pair<double, double>>& links) {
        const Collective kind = collective_from(collective);
        const HostGroups groups(std::move(hosts));
        std::vector<std::string> names;
        std::vector<Schedule> schedules;
        for (const Algorithm& algorithm : algorithms())
          if (algorithm.is_candidate(kind, groups)) {
            names.emplace_back(algorithm.name);
            schedules.push_back(make_schedule(algorithm.name, kind, groups.num_ranks(), 0, groups));
          }
        const int cores = default_machine().num_cores;
        const size_t count = num_bytes / static_cast<size_t>(blocks_of_rank(kind, groups.num_ranks()));
        const HostLinks between = links ? HostLinks{links->first, links->second} : default_host_links();
        const Choice choice = choose_on_hosts(schedules, count, 1, groups, between,
                                              default_message_work(static_cast<double>(groups.largest()) / cores));
        return std::tuple(names, choice.seconds, static_cast<size_t>(choice.index), choice.reason);
      },
      "collective"_a, "hosts"_a, "num_bytes"_a, "links"_a.none() = nb::none(),
      nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace ringtree::bindings
