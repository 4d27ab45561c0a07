// Whether this process was made by fork() since some object was made: its locks, threads and sockets are then copies
// whose other halves live in the parent. Cheaper than getpid(), which is a system call.
#pragma once

namespace ringtree {

/// How many times fork() has made this process or one that it comes from, since this library was loaded.
int fork_count();

}  // namespace ringtree
