// A thread of ours on one core, for probes. Not for threads that may move.
#pragma once

namespace ringtree {

/// Moves the calling thread to `core` and nowhere else. False: there is no such core, or it may not be used.
bool pin_to_core(int core);

/// Whether the calling thread runs on `core` right now: a cpuset that shrinks moves pinned threads without a word.
bool is_on_core(int core);

}  // namespace ringtree
