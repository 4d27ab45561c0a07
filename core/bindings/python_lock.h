// PythonLock: the GIL, which the thread that makes a call holds and may keep while the call is done in no time.
#pragma once

#include <Python.h>

#include "core/engine/caller_lock.h"

namespace ringtree::bindings {

/// Made with the GIL held; when it goes the thread has it again.
class PythonLock final : public CallerLock {
 public:
  PythonLock() = default;
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;
  ~PythonLock() {
    if (thread_) PyEval_RestoreThread(thread_);
  }

  void let_go() override {
    if (!thread_) thread_ = PyEval_SaveThread();
  }

 private:
  PyThreadState* thread_ = nullptr;  // null: the GIL is held
};

}  // namespace ringtree::bindings
