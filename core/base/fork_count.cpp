// See fork_count.h.
#include "core/base/fork_count.h"

#include <pthread.h>

#include <atomic>

namespace ringtree {
namespace {

std::atomic<int> forks{0};  // relaxed: written by the one thread of a new process

[[maybe_unused]] const int kRegistered =  // when the library is loaded
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

int fork_count() { return forks.load(std::memory_order_relaxed); }

}  // namespace ringtree
