// The table of built-in algorithms.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "core/algorithms/mix.h"
#include "core/algorithms/registry.h"
#include "core/bindings/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {
namespace {

/// The host of each rank; None: all on one.
using HostsArgument = std::optional<std::vector<int>>;

HostGroups hosts_from(const HostsArgument& hosts, int num_ranks) {
  if (!hosts) return HostGroups::single(num_ranks);
  HostGroups groups(*hosts);
  require_all_ranks(groups, num_ranks);
  return groups;
}

}  // namespace

void bind_algorithms(nb::module_& module) {
  nb::class_<Algorithm>(module, "Algorithm", "A row of the table of built-in algorithms.")
      .def_prop_ro("name", [](const Algorithm& self) { return std::string(self.name); })
      .def_prop_ro("title", [](const Algorithm& self) { return std::string(self.title); })
      .def_prop_ro("source", [](const Algorithm& self) { return std::string(self.source); })
      .def_prop_ro("collectives",
                   [](const Algorithm& self) {
                     std::vector<std::string> names;
                     for (Collective collective : self.collectives) names.emplace_back(collective_name(collective));
                     return names;
                   })
      .def_prop_ro("for_several_hosts", [](const Algorithm& self) { return self.for_several_hosts; })
      .def(
          "cost",
          [](const Algorithm& self, const std::string& collective, int num_ranks, const HostsArgument& hosts) {
            return self.cost(collective_from(collective), hosts_from(hosts, num_ranks));
          },
          "collective"_a, "num_ranks"_a, "hosts"_a = nb::none());
  module.def("algorithms", [] { return algorithms(); });
  module.def("switch_algorithms", [] { return switch_algorithms(); });
  module.def(
      "parse_mix",
      [](const std::string& name) {
        std::vector<std::pair<std::string, int>> parts;
        for (const MixPart& part : parse_mix(name)) parts.emplace_back(part.algorithm, part.shares);
        return parts;
      },
      "name"_a, "The algorithms of a name and their shares; see core/algorithms/mix.h.");
  module.def(
      "make_schedule",
      [](const std::string& name, const std::string& collective, int num_ranks, int root, const HostsArgument& hosts) {
        if (!hosts) return make_schedule(name, collective_from(collective), num_ranks, root);
        return make_schedule(name, collective_from(collective), num_ranks, root, HostGroups(*hosts));
      },
      "name"_a, "collective"_a, "num_ranks"_a, "root"_a = 0, "hosts"_a = nb::none());
}

}  // namespace ringtree::bindings
