// Finds an order in which all steps of all ranks can run with two slots a link, or the circle of steps that wait for
// each other. It knows nothing of values: steps and messages form a marked graph, in which what can run does not depend
// on the order chosen, so one run decides for all.
#pragma once

#include <optional>
#include <vector>

#include "core/verify/ledger.h"
#include "core/verify/step_table.h"

namespace ringtree {

/// Puts the step ids into `order`. `ledger` must have passed its check. Linear in steps, message ends and dependencies.
std::optional<Fault> find_order(const StepTable& table, const Ledger& ledger, std::vector<int>& order);

}  // namespace ringtree
