// A user's arrays as a call of a collective: how many elements each must have, and what the call is then about.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/bindings/array_view.h"
#include "core/engine/communicator.h"

namespace ringtree::bindings {

/// A schedule of the user's own, verified once.
struct OwnSchedule {
  explicit OwnSchedule(const Schedule& own);
  std::shared_ptr<const Schedule> schedule;
  uint64_t hash = 0;
};

using AlgorithmArgument = std::variant<std::string, const OwnSchedule*>;

/// What is asked for beside the algorithm: protocol ("auto" for the engine's choice), bytes of a slice (0: the engine's
/// choice), whether the output is written around the caches.
using HowArgument = std::tuple<std::string, size_t, std::optional<bool>>;

using CountsArgument = std::optional<std::vector<uint64_t>>;

/// A Call whose views keep their arrays, to be made with the GIL held. Throws UsageError that says which array does not
/// fit; what else must hold is the communicator's to check.
struct __attribute__((visibility("hidden"))) ArrayCall {
  ArrayCall(const Communicator& communicator, const std::string& collective, const nanobind::object& input,
            const nanobind::object& output, const std::string& op, int root, const AlgorithmArgument& algorithm,
            const HowArgument& how, double timeout, const CountsArgument& counts, double factor);

  Call call;

 private:
  ArrayView in_, out_;
  std::vector<uint64_t> counts_;
};

}  // namespace ringtree::bindings
