// start_helper_thread: a named thread of ours in a process that is not ours. It blocks every signal, so that Ctrl-C and
// friends interrupt the application's threads (a Python main thread waits in a system call for just that) and never
// ours. Not for threads that run application code.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.h"

namespace ringtree {

/// Starts `body` in a thread called `name` (at most 15 bytes, seen in top and gdb). The caller joins it.
/// WorldError: the system has no thread left.
inline std::thread start_helper_thread(const char* name, std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // A thread inherits the mask of its creator: blocked around the creation, no signal can reach the new thread in
  // between.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw WorldError(std::string("cannot start a thread (raise ulimit -u or the container's limit): ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace ringtree
