// The enums of ringtree.h in terms of the engine's. The numbers are the same, which types.cpp checks when it is
// compiled; here is what a caller may pass.
#pragma once

#include "core/base/dtype.h"
#include "core/base/reduce_op.h"
#include "ringtree.h"

namespace ringtree::capi {

/// Throws rtInvalidArgument for a number that is not a datatype.
Dtype dtype_of(rtDataType_t datatype);

/// True for the ops that have a name in ringtree.h; `op` is set to the engine's.
bool is_named_op(rtRedOp_t number, ReduceOp& op);

}  // namespace ringtree::capi
