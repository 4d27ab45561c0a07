// See forks.h.
#include "forks.h"

#include <c10/util/Exception.h>
#include <pthread.h>

#include <atomic>

namespace ringtree_torch {
namespace {

std::atomic<int> forks{0};  // relaxed: written by the one thread of a new process

[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

int fork_count() { return forks.load(std::memory_order_relaxed); }

void check_not_forked(int before, const char* what) {
  TORCH_CHECK_VALUE(fork_count() == before, "ringtree: ", what,
                    " in the parent, before fork(): a child must make its own group");
}

}  // namespace ringtree_torch
