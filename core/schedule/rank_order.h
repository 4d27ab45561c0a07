// Whether a schedule folds all ranks' contributions in one go, in the order of ranks: then the bits of a result depend
// on nothing but the inputs, whichever such schedule ran, however it was cut.
#pragma once

#include "core/schedule/schedule.h"

namespace ringtree {

/// Every reducing step of every rank takes its operands from all other ranks, who send their own input as it is, and
/// has its own at its rank's place. For schedules that are right (core/verify). O(steps of all ranks · ranks).
bool folds_in_rank_order(const Schedule& schedule);

}  // namespace ringtree
