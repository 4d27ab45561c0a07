// A narrow float for typed tests: its codec, compiled for the instruction set of the tests, and its dtype.
#pragma once

#include "core/base/dtype.h"

namespace ringtree {

template <class C, Dtype kOfDtype>
struct Tested {
  using Codec = C;
  static constexpr Dtype kDtype = kOfDtype;
};

}  // namespace ringtree
