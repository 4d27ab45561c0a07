// Ctrl-C while a call waits. PyTorch lets go of Python's lock around every call of a backend, so that signals' handlers
// do not run until it returns; here Python's main thread looks for them now and then.
#pragma once

namespace ringtree_torch {

/// As rtConfig_t's `interrupted`: runs the handlers of signals that have come, if this is Python's main thread and some
/// time has passed since the last look. True if one of them raised, which throw_signal() then throws. Without the GIL.
bool signal_raised();
/// Remembers which thread is Python's main one. With the GIL, before any of these.
void find_main_thread();
extern "C" int ringtree_torch_interrupted(void);

/// What a handler raised in this thread, if it has not been thrown yet.
bool has_signal();
[[noreturn]] void throw_signal();

}  // namespace ringtree_torch
