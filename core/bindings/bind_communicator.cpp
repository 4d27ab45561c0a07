// The communicator. Arrays are looked at with the GIL held; the collective runs without it, so that ranks may be
// threads of one process, unless it is so small that it is done before the GIL would be back.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdio>

#include "core/algorithms/registry.h"
#include "core/bindings/array_view.h"
#include "core/bindings/bindings.h"
#include "core/bindings/call_arguments.h"
#include "core/bindings/python_lock.h"
#include "core/builtin/algorithm_table.h"
#include "core/builtin/machine_here.h"
#include "core/engine/group.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {
namespace {

/// Binds what takes a call: `use(communicator, first..., made)`. Its arguments are read here, not by nanobind, which
/// would make strings of them in each call, and are few: up to eight have a quicker way through it.
template <class... First, class Use, class... Names>
void def_call(nb::class_<Communicator>& communicator, const char* name, Use use, const Names&... names) {
  communicator.def(
      name,
      [use](Communicator& self, First... first, nb::handle collective, nb::handle input, nb::handle output,
            nb::handle op, nb::handle root, nb::handle algorithm, nb::handle how) {
        const ArrayCall made(self, {collective, input, output, op, root, algorithm, how});
        return use(self, first..., made);
      },
      names..., "collective"_a.none(), "input"_a.none(), "output"_a.none(), "op"_a.none(), "root"_a.none(),
      "algorithm"_a.none(), "how"_a.none());
}

// Of more bytes the moving takes longer than giving the GIL back and taking it again.
constexpr size_t kMostBytesUnderLock = 4096;

void run_call(Communicator& self, const ArrayCall& made) {
  PythonLock lock;
  if (made.num_bytes > kMostBytesUnderLock) lock.let_go();
  self.run(made.call, &lock);
}

using TransferArgument = std::tuple<bool, int, nb::object>;  // sends, peer, array

std::vector<Transfer> transfers_from(const std::vector<TransferArgument>& transfers) {
  std::vector<Transfer> all;
  for (const auto& [sends, peer, array] : transfers) {
    const ArrayView view = view_array(array, sends ? "what is sent" : "what is received into", !sends);
    all.push_back({sends, peer, view.dtype, view.count, view.data});
  }
  return all;
}

void transfer(Communicator& self, const std::vector<TransferArgument>& transfers, double timeout) {
  const std::vector<Transfer> all = transfers_from(transfers);
  const nb::gil_scoped_release no_gil;
  self.transfer(all, timeout);
}

nb::typed<nb::dict, nb::str, nb::any> last_call(const Communicator& self) {
  const LastCall last = self.last_call();
  nb::typed<nb::dict, nb::str, nb::any> out;
  out["sequence"] = last.description.sequence;
  out["collective"] = collective_name(last.description.collective);
  out["algorithm"] = last.description.algorithm;
  out["protocol"] = protocol_name(last.configuration.protocol);
  out["streaming"] = last.configuration.streaming;
  out["reason"] = last.reason;
  out["description"] = last.description.sequence ? last.description.to_string() : "";
  out["num_chunks"] = last.num_chunks;
  out["num_lanes"] = last.num_lanes;
  out["num_channels"] = last.num_channels;
  out["num_passes"] = last.cut.num_passes;
  out["slice_bytes"] = last.cut.slice_bytes;
  return out;
}

using ChoiceTuple = std::tuple<std::string, std::string, size_t, bool, int, std::string>;

ChoiceTuple choice_tuple(const std::pair<Configuration, std::string>& choice) {
  const auto& [run, reason] = choice;
  return {run.algorithm, protocol_name(run.protocol), run.slice_bytes, run.streaming, run.channels, reason};
}

// Every collective with every algorithm and protocol: "" if it runs, else why not.
std::vector<std::tuple<std::string, std::string, std::string, std::string>> support(bool emulated) {
  Selection selection;
  if (emulated) selection.emulation = Cluster{};
  const HostGroups hosts = emulated ? HostGroups({0, 1}) : HostGroups::single(2);
  std::vector<std::tuple<std::string, std::string, std::string, std::string>> cells;
  for (const Collective collective : kCollectives)
    for (const Algorithm& algorithm : algorithms()) {
      if (algorithm.for_several_hosts && hosts.num_hosts() == 1) continue;
      for (const ProtocolInfo& info : kProtocols) {
        std::string reason = why_not(info.protocol, selection);
        if (!algorithm.supports(collective))
          reason = std::string(algorithm.name) + " has no " + collective_name(collective);
        cells.emplace_back(collective_name(collective), algorithm.name, info.name, reason);
      }
    }
  return cells;
}

}  // namespace

int python_interrupt() {
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals();
}

ReduceOp op_from(const std::string& name) {
  if (const auto op = reduce_op_from_name(name)) return *op;
  std::string known;
  for (ReduceOp op : kReduceOps) known += (known.empty() ? "" : ", ") + std::string(reduce_op_name(op));
  throw UsageError("unknown op " + name + "; there are " + known);
}

void bind_communicator(nb::module_& module) {
  nb::class_<OwnSchedule>(module, "OwnSchedule", "A schedule of the user's own; making one verifies it.")
      .def(nb::init<const Schedule&>(), "schedule"_a, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Work>(module, "Work", "A call in the background; see ringtree.Work.")
      .def("test", &Work::test)
      .def(
          "wait", [](const Work& self, double timeout) { self.wait(timeout, python_interrupt); }, "timeout"_a,
          nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Communicator> communicator(module, "Communicator",
                                        "One rank's end of a group; see ringtree.Communicator.");
  // The arrays must live until a work, or a group, is done: ringtree.Communicator and ringtree.Group see to that.
  def_call(communicator, "call", &run_call);
  def_call(communicator, "start", [](Communicator& self, const ArrayCall& made) { return self.start(made.call); });
  def_call<Group&>(
      communicator, "add_to",
      [](Communicator& self, Group& group, const ArrayCall& made) { group.add(self, made.call); }, "group"_a);
  communicator
      .def(
          "__init__",
          [](Communicator* self, Store& store, int rank, int world_size, double timeout, size_t memory_cap,
             int num_channels, const std::optional<std::tuple<int, int, double, double>>& emulation,
             const std::string& prefix, const std::string& profile, bool shared_buffers, bool deterministic,
             const std::optional<std::string>& towards) {
            Settings settings;
            settings.network = Network::from_environment();
            if (towards) settings.network.towards = *towards;
            settings.timeout_s = timeout;
            settings.memory_cap_bytes = memory_cap;
            settings.num_channels = num_channels;
            settings.profile = profile;
            settings.probe = machine_prober();
            settings.probes_links = link_prober();
            settings.shared_buffers = shared_buffers;
            settings.deterministic = deterministic;
            settings.warn = [](const std::string& line) { std::fprintf(stderr, "ringtree: %s\n", line.c_str()); };
            if (emulation) {
              const auto& [hosts, per_host, alpha, beta] = *emulation;
              settings.emulation = Cluster{hosts, per_host, alpha, beta};
            }
            {
              const nb::gil_scoped_release no_gil;
              new (self) Communicator(store, rank, world_size, settings, built_in_table(), prefix);
            }
            self->set_interrupt_check(python_interrupt);
          },
          "store"_a, "rank"_a, "world_size"_a, "timeout"_a, "memory_cap"_a, "num_channels"_a, "emulation"_a.none(),
          "prefix"_a, "profile"_a = "", "shared_buffers"_a = false, "deterministic"_a = false, "towards"_a = nb::none(),
          nb::keep_alive<1, 2>())  // split() goes back to the store
      .def_prop_ro("rank", &Communicator::rank)
      .def_prop_ro("world_size", &Communicator::world_size)
      .def_prop_ro("own_cores", &Communicator::own_cores)
      .def_prop_ro("shared_bytes", &Communicator::shared_bytes)
      .def_prop_ro("hosts", [](const Communicator& self) { return self.hosts(); })
      .def_prop_ro("gone", &Communicator::gone)
      .def_prop_ro("network_bytes", &Communicator::network_bytes)
      .def("transfer", &transfer, "transfers"_a, "timeout"_a)
      .def(
          "start_transfer",
          [](Communicator& self, const std::vector<TransferArgument>& transfers, double timeout) {
            return self.start(transfers_from(transfers), timeout);
          },
          "transfers"_a, "timeout"_a)
      .def("split", &Communicator::split, "color"_a, "key"_a, nb::keep_alive<0, 1>(),
           nb::call_guard<nb::gil_scoped_release>())
      .def("shrink", &Communicator::shrink, nb::call_guard<nb::gil_scoped_release>())
      .def("abort", &Communicator::abort, "reason"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("start_trace", &Communicator::start_trace, "capacity"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("take_trace", &Communicator::take_trace, nb::call_guard<nb::gil_scoped_release>())
      .def("last_call", &last_call)
      .def(
          "choose",
          [](const Communicator& self, const std::string& collective, size_t count, const std::string& dtype) {
            const auto type = dtype_from_name(dtype);
            if (!type) throw UsageError("unknown dtype " + dtype);
            return choice_tuple(self.choose({collective_from(collective), *type, ReduceOp::sum, 0, count}));
          },
          "collective"_a, "count"_a, "dtype"_a,
          "(algorithm, protocol, slice_bytes, streaming, channels, reason) that auto takes.")
      .def("close", &Communicator::close, nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "dtypes",
      [] {
        std::vector<std::pair<std::string, size_t>> all;
        for (Dtype dtype : kDtypes) all.emplace_back(dtype_name(dtype), item_size(dtype));
        return all;
      },
      "Name and bytes of each dtype that collectives move.");
  module.def("support", &support, "emulated"_a = false);
  module.def("protocols", [] {
    std::vector<std::string> all;
    for (const ProtocolInfo& info : kProtocols) all.emplace_back(info.name);
    return all;
  });
  module.def("reduce_ops", [] {
    std::vector<std::string> all;
    for (ReduceOp op : kReduceOps) all.emplace_back(reduce_op_name(op));
    return all;
  });
}

}  // namespace ringtree::bindings
