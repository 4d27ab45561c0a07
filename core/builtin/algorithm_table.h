// The table of built-in algorithms in the form that the engine is handed. The engine does not know the algorithms, nor
// they the engine: whoever makes communicators (bindings, C API, benchmark, tests) brings the two together here.
#pragma once

#include "core/engine/selection.h"

namespace ringtree {

/// Every algorithm of core/algorithms/registry.h, with its cost in closed form.
AlgorithmTable built_in_table();

}  // namespace ringtree
