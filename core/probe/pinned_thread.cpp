// See pinned_thread.h.
#include "core/probe/pinned_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace ringtree {

std::thread start_probe_thread(const char* name, std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // A thread inherits its creator's mask: blocked around the creation, no signal can reach the new one in between.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw WorldError(std::string("no thread can be started (raise ulimit -u or the container's limit): ") +
                     error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

bool pin_to_core(int core) {
  // Counted in sets of CPU_SETSIZE (1,024) cores, because a plain cpu_set_t ends there and large hosts do not.
  constexpr int kMostCores = 1 << 16;
  if (core < 0 || core >= kMostCores) return false;
  std::vector<cpu_set_t> sets(static_cast<size_t>(core / CPU_SETSIZE) + 1);
  const size_t num_bytes = sets.size() * sizeof(cpu_set_t);
  CPU_ZERO_S(num_bytes, sets.data());
  CPU_SET_S(static_cast<size_t>(core), num_bytes, sets.data());
  return sched_setaffinity(0, num_bytes, sets.data()) == 0 && is_on_core(core);
}

bool is_on_core(int core) { return sched_getcpu() == core; }

}  // namespace ringtree
