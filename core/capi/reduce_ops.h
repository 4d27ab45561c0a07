// Ops of a communicator: those with a name, and those that rtRedOpCreatePreMulSum() made.
#pragma once

#include "core/capi/handle.h"

namespace ringtree::capi {

/// Sets op and factor of `call`. Throws rtInvalidArgument for a number that is not an op of the communicator.
void set_op(Call& call, rtRedOp_t op, const rtComm& comm);

}  // namespace ringtree::capi
