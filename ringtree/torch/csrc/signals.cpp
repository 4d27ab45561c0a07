// See signals.h.
#include "signals.h"

#include <Python.h>
#include <pthread.h>
#include <pybind11/pybind11.h>

#include <chrono>
#include <optional>

namespace ringtree_torch {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
thread_local std::optional<pybind11::error_already_set> raised;
thread_local std::chrono::steady_clock::time_point last_look;
unsigned long main_thread = 0;  // as threading counts it; written while the module is imported

}  // namespace

bool signal_raised() {
  if (raised) return true;
  if (static_cast<unsigned long>(pthread_self()) != main_thread) return false;  // handlers run in no other
  const auto now = std::chrono::steady_clock::now();
  if (now - last_look < kBetweenLooks) return false;
  last_look = now;
  if (!Py_IsInitialized()) return false;
  const pybind11::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) return false;
  raised.emplace();
  return true;
}

void find_main_thread() {
  main_thread = pybind11::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
}

int ringtree_torch_interrupted(void) { return signal_raised() ? 1 : 0; }

bool has_signal() { return raised.has_value(); }

void throw_signal() {
  pybind11::error_already_set error = std::move(*raised);
  raised.reset();
  throw error;
}

}  // namespace ringtree_torch
