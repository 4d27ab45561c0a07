// Whether fork() has made this process since a group was made: the group's threads are then in the parent alone.
// Cheaper than getpid(), which is a system call.
#pragma once

namespace ringtree_torch {

/// How many times fork() has made this process or one that it comes from, since this module was loaded.
int fork_count();

/// Throws ValueError unless it is still `before`. `what` was made or started then, for the text.
void check_not_forked(int before, const char* what);

}  // namespace ringtree_torch
