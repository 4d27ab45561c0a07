// What a call asks for beside its arrays: from Python's strings and numbers to the engine's words. A program makes the
// same few calls with the same objects over and over, so that what they came to is found by the objects' addresses:
// reading them takes longer than a small call.
#pragma once

#include <nanobind/nanobind.h>

#include <array>

#include "core/engine/call.h"

namespace ringtree::bindings {

/// With the GIL held.
class AskedCalls {
 public:
  /// Borrowed: collective, op, root, algorithm (a name, an OwnSchedule, or what has verified() that gives one),
  /// protocol, slice_bytes, streaming, timeout, factor.
  static constexpr size_t kNumObjects = 9;
  using Objects = std::array<PyObject*, kNumObjects>;

  /// The call without buffers and counts. Throws UsageError for unknown names and a factor that nothing uses, TypeError
  /// for what has the wrong type.
  Call get(const Objects& objects);

 private:
  static constexpr size_t kPlaces = 64;

  struct Place {
    Objects objects{};  // references, so that no other object gets an address that is here; null: the place is free
    Call call;
  };

  static size_t place_of(const Objects& objects);

  std::array<Place, kPlaces> places_;
};

}  // namespace ringtree::bindings
