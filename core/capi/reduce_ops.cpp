// See reduce_ops.h. The number of a made op is the place of its factor, counted from far above those with a name.
#include "core/capi/reduce_ops.h"

#include <algorithm>
#include <string>

#include "core/capi/errors.h"
#include "core/capi/types.h"

namespace ringtree::capi {
namespace {

constexpr unsigned kFirstMadeOp = 1024;
constexpr size_t kMostMadeOps = 1 << 16;  // beyond that somebody forgets to destroy them

// The place of a made op's factor. Throws rtInvalidArgument if there is none.
size_t place_of(rtRedOp_t op, const rtComm& comm) {
  const auto number = static_cast<unsigned>(op);
  const size_t place = number - kFirstMadeOp;
  if (number < kFirstMadeOp || place >= comm.factors.size() || !comm.factors[place])
    refuse_argument("unknown op " + std::to_string(number) + " of this communicator");
  return place;
}

}  // namespace

void set_op(Call& call, rtRedOp_t op, const rtComm& comm) {
  if (is_named_op(op, call.op)) return;
  const size_t place = place_of(op, comm);
  call.op = ReduceOp::premul_sum;
  call.factor = comm.factors[place].value_or(1);  // place_of() has looked that it is there
}

}  // namespace ringtree::capi

using namespace ringtree::capi;

rtResult_t rtRedOpCreatePreMulSum(rtRedOp_t* op, double factor, rtComm_t comm) {
  return guarded(comm, [&] {
    auto& factors = require(comm).factors;
    rtRedOp_t& made = require_out(op, "op");
    const auto free = std::find(factors.begin(), factors.end(), std::nullopt);
    const auto place = static_cast<size_t>(free - factors.begin());
    if (place == kMostMadeOps) refuse_usage("this communicator has 65536 ops: destroy the ones you no longer need");
    if (free == factors.end()) {
      factors.emplace_back(factor);
    } else {
      *free = factor;
    }
    made = static_cast<rtRedOp_t>(kFirstMadeOp + place);
  });
}

rtResult_t rtRedOpDestroy(rtRedOp_t op, rtComm_t comm) {
  return guarded(comm, [&] {
    rtComm& handle = require(comm);
    handle.factors[place_of(op, handle)].reset();
  });
}
