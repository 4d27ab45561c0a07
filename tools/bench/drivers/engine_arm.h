// Our engine as an arm of the benchmark. Not for what other arms do alike (driver.h).
#pragma once

#include <string>

#include "tools/bench/drivers/driver.h"

namespace ringtree::bench {

/// The arm of rank `rank` of `size`, whose ranks meet in the UnixStore `store_id`; `rules`: what `auto` runs, as
/// core/engine/profile.h writes it, "" for what the model says. One a process.
const DriverArm& engine_arm(const std::string& store_id, int rank, int size, const std::string& rules);

}  // namespace ringtree::bench
