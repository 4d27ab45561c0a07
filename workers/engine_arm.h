// Our engine as an arm of a native worker. Not for what other arms do alike (worker.h).
#pragma once

#include <string>

#include "workers/worker.h"

namespace ringtree::workers {

/// The arm of rank `rank` of `size`, whose ranks meet in the UnixStore `store_id`; `rules`: what `auto` runs, as
/// core/engine/profile.h writes it, "" for what the model says. One a process.
const WorkerArm& engine_arm(const std::string& store_id, int rank, int size, const std::string& rules);

}  // namespace ringtree::workers
