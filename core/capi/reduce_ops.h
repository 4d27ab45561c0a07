// Ops of a communicator: those with a name, and those that rtRedOpCreatePreMulSum() made.
#pragma once

#include "core/capi/handle.h"

namespace ringtree::capi {

/// Sets op and factor of `arguments`. Throws rtInvalidArgument for a number that is no op of the communicator.
void set_op(CallArguments& arguments, rtRedOp_t op, const rtComm& comm);

}  // namespace ringtree::capi
