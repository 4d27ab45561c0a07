// A thread of ours on one core, for probes. Blocks every signal, so that Ctrl-C reaches the application's threads. Not
// for threads that may move, and it never touches the affinity of the thread that calls.
#pragma once

#include <functional>
#include <thread>

namespace ringtree {

/// Starts `body` in a thread called `name` (at most 15 bytes). The caller joins it; what `body` throws ends the
/// process. WorldError: the system has no thread left.
std::thread start_probe_thread(const char* name, std::function<void()> body);

/// Moves the calling thread to `core` and nowhere else. False: there is no such core, or it may not be used.
bool pin_to_core(int core);

/// Whether the calling thread runs on `core` right now: a cpuset that shrinks moves pinned threads without a word.
bool is_on_core(int core);

}  // namespace ringtree
