// The communicator. Arrays are looked at with the GIL held; the collective runs without it, so that ranks may be
// threads of one process.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "core/algorithms/registry.h"
#include "core/bindings/array_view.h"
#include "core/bindings/bindings.h"
#include "core/engine/communicator.h"
#include "core/verify/verify.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {
namespace {

AlgorithmTable algorithm_table() {
  AlgorithmTable table;
  table.make = make_schedule;
  table.candidates = [](Collective collective, int num_ranks) {
    std::vector<Candidate> entries;
    for (const Algorithm& algorithm : algorithms())
      if (algorithm.supports(collective)) entries.push_back({algorithm.name, algorithm.cost(collective, num_ranks)});
    return entries;
  };
  return table;
}

// Runs Python's signal handlers (Ctrl-C). True leaves the exception set, which is then what the caller of the
// collective gets.
bool python_interrupt() {
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

// A schedule of the user's own, verified once.
struct OwnSchedule {
  explicit OwnSchedule(const Schedule& own) : schedule(std::make_shared<const Schedule>(own)) {
    require_verified(own);
    hash = own.structural_hash();
  }
  std::shared_ptr<const Schedule> schedule;
  uint64_t hash = 0;
};

using AlgorithmArgument = std::variant<std::string, const OwnSchedule*>;

// What is asked for beside the algorithm: protocol ("auto" for the engine's choice), bytes of a slice (0: the engine's
// choice), whether the output is written around the caches.
using HowArgument = std::tuple<std::string, size_t, std::optional<bool>>;

AlgorithmRef reference(const AlgorithmArgument& algorithm, const HowArgument& how) {
  AlgorithmRef asked;
  if (const std::string* name = std::get_if<std::string>(&algorithm)) {
    asked.name = *name;
  } else {
    const OwnSchedule* own = std::get<const OwnSchedule*>(algorithm);
    asked.name = own->schedule->shape().name;
    asked.own = own->schedule;
    asked.own_hash = own->hash;
  }
  const auto& [protocol, slice_bytes, streaming] = how;
  if (protocol != "auto") asked.protocol = require_protocol(protocol);
  asked.slice_bytes = slice_bytes;
  asked.streaming = streaming;
  return asked;
}

ReduceOp op_from(const std::string& name) {
  if (const auto op = reduce_op_from_name(name)) return *op;
  std::string known;
  for (ReduceOp op : kReduceOps) known += (known.empty() ? "" : ", ") + std::string(reduce_op_name(op));
  throw UsageError("unknown op " + name + "; there are " + known);
}

// The arrays of a call in terms of the collective: how many elements each must have.
void call(Communicator& self, const std::string& collective, const nb::object& input, const nb::object& output,
          const std::string& op, int root, const AlgorithmArgument& algorithm, const HowArgument& how, double timeout) {
  CallArguments arguments;
  arguments.collective = collective_from(collective);
  arguments.op = op_from(op);
  arguments.root = root;
  arguments.timeout_s = timeout;
  ArrayView in, out;
  if (!output.is_none()) out = view_array(output, "the output", true);
  if (input.ptr() == output.ptr()) {
    in = out;
  } else if (!input.is_none()) {
    in = view_array(input, "the input", false);
  }
  if (input.is_none() && output.is_none()) throw UsageError("needs an array");
  if (!input.is_none() && !output.is_none() && in.dtype != out.dtype)
    throw UsageError(std::string("the input is ") + dtype_name(in.dtype) + " but the output is " +
                     dtype_name(out.dtype));
  arguments.dtype = input.is_none() ? out.dtype : in.dtype;
  arguments.input = in.data;
  arguments.output = out.data;

  const size_t n = static_cast<size_t>(self.world_size());
  const bool in_is_block = arguments.collective == Collective::all_gather,
             out_is_block = arguments.collective == Collective::reduce_scatter;
  const size_t in_share = out_is_block ? n : 1, out_share = in_is_block ? n : 1;  // whole vectors hold n blocks
  arguments.count = input.is_none() ? out.count / out_share : in.count / in_share;
  if (!input.is_none() && in.count != arguments.count * in_share)
    throw UsageError("an input of " + std::to_string(in.count) + " elements cannot be cut into " + std::to_string(n) +
                     " equal blocks");
  if (!output.is_none() && out.count != arguments.count * out_share)
    throw UsageError("the output has " + std::to_string(out.count) + " elements, not " +
                     std::to_string(arguments.count * out_share));
  const AlgorithmRef algorithm_ref = reference(algorithm, how);
  const nb::gil_scoped_release no_gil;
  self.call(arguments, algorithm_ref);
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
  std::vector<std::tuple<std::string, std::string, std::string, std::string>> cells;
  for (const Collective collective : kCollectives)
    for (const Algorithm& algorithm : algorithms())
      for (const ProtocolInfo& info : kProtocols) {
        std::string reason = why_not(info.protocol, selection);
        if (!algorithm.supports(collective))
          reason = std::string(algorithm.name) + " has no " + collective_name(collective);
        cells.emplace_back(collective_name(collective), algorithm.name, info.name, reason);
      }
  return cells;
}

}  // namespace

void bind_communicator(nb::module_& module) {
  nb::class_<OwnSchedule>(module, "OwnSchedule", "A schedule of the user's own; making one verifies it.")
      .def(nb::init<const Schedule&>(), "schedule"_a, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Communicator>(module, "Communicator", "One rank's end of a group; see ringtree.Communicator.")
      .def(
          "__init__",
          [](Communicator* self, Store& store, int rank, int world_size, double timeout, size_t memory_cap,
             int num_channels, const std::optional<std::tuple<int, int, double, double>>& emulation,
             const std::string& prefix, const std::string& profile, bool shared_buffers) {
            Settings settings;
            settings.timeout_s = timeout;
            settings.memory_cap_bytes = memory_cap;
            settings.num_channels = num_channels;
            settings.profile = profile;
            settings.shared_buffers = shared_buffers;
            if (emulation) {
              const auto& [hosts, per_host, alpha, beta] = *emulation;
              settings.emulation = Cluster{hosts, per_host, alpha, beta};
            }
            {
              const nb::gil_scoped_release no_gil;
              new (self) Communicator(store, rank, world_size, settings, algorithm_table(), prefix);
            }
            self->set_interrupt_check(python_interrupt);
          },
          "store"_a, "rank"_a, "world_size"_a, "timeout"_a, "memory_cap"_a, "num_channels"_a, "emulation"_a.none(),
          "prefix"_a, "profile"_a = "", "shared_buffers"_a = false)
      .def_prop_ro("rank", &Communicator::rank)
      .def_prop_ro("world_size", &Communicator::world_size)
      .def_prop_ro("own_cores", &Communicator::own_cores)
      .def_prop_ro("shared_bytes", &Communicator::shared_bytes)
      .def("call", &call, "collective"_a, "input"_a.none(), "output"_a.none(), "op"_a, "root"_a, "algorithm"_a, "how"_a,
           "timeout"_a)
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
