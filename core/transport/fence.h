// A fence on every thread of every process that takes part, made by one thread: what lets the others do without. See
// link.h for who uses it when.
#pragma once

namespace ringtree {

/// Registers this process for fence_everybody(). False where the kernel does not offer it (before Linux 4.16, or
/// forbidden in a container): then links must be fenced. Any number of times, from any thread.
bool can_fence_everybody();

/// A full memory fence on all running threads of all registered processes, when it returns; microseconds.
void fence_everybody();

}  // namespace ringtree
