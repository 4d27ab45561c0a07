// What links are built of: atomics and the plain memory that they publish. Links are templates over this policy, so
// that the very code that runs here also runs on the weak-memory explorer (tests/models), whose atomics take every
// value that the C++ memory model allows.
#pragma once

#include <atomic>

namespace ringtree {

struct StdAtomics {
  template <class T>
  using Atomic = std::atomic<T>;
  /// Memory that an atomic publishes.
  template <class T>
  using Plain = T;
};

}  // namespace ringtree
