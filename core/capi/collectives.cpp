// The collectives of ringtree.h: each puts its arguments into the engine's words. What they must be is checked by the
// engine, which knows the ranks; here only what it could not see: NULLs, and numbers that are not datatype or op.
#include <type_traits>
#include <vector>

#include "core/capi/errors.h"
#include "core/capi/reduce_ops.h"
#include "core/capi/submit.h"
#include "core/capi/types.h"

using namespace ringtree;
using namespace ringtree::capi;

namespace {

static_assert(std::is_same_v<size_t, uint64_t>, "arrays of counts are handed on as they are");

// What the arguments of all collectives have in common.
struct Common {
  Collective collective;
  const void* input;
  void* output;
  rtDataType_t datatype;
  rtComm_t comm;
  int root = 0;
};

// Completes and submits the call. `add` sets what else it has.
template <class Add>
rtResult_t run(const Common& common, Add&& add) {
  return gathered(common.comm, [&] {
    rtComm& comm = require(common.comm);
    Call call;
    call.collective = common.collective;
    call.dtype = dtype_of(common.datatype);
    call.root = common.root;
    call.input = common.input;
    call.output = common.output;
    call.timeout_s = comm.timeout_s.load(std::memory_order_relaxed);  // a number, it publishes nothing
    add(call, comm);
    submit(comm, call);
  });
}

std::span<const uint64_t> counts_of(const size_t* counts, const rtComm& comm, const char* name) {
  if (!counts) refuse_argument(std::string(name) + " is NULL");
  return {counts, static_cast<size_t>(comm.communicator->world_size())};
}

rtResult_t run_even(const Common& common, size_t count) {
  return run(common, [&](Call& call, rtComm&) { call.count = count; });
}

rtResult_t run_even(const Common& common, size_t count, rtRedOp_t op) {
  return run(common, [&](Call& call, rtComm& comm) {
    call.count = count;
    set_op(call, op, comm);
  });
}

rtResult_t run_uneven(const Common& common, const size_t* counts) {
  return run(common, [&](Call& call, rtComm& comm) { call.counts = counts_of(counts, comm, "counts"); });
}

}  // namespace

rtResult_t rtAllReduce(const void* input, void* output, size_t count, rtDataType_t datatype, rtRedOp_t op,
                       rtComm_t comm) {
  return run_even({Collective::all_reduce, input, output, datatype, comm}, count, op);
}

rtResult_t rtReduce(const void* input, void* output, size_t count, rtDataType_t datatype, rtRedOp_t op, int root,
                    rtComm_t comm) {
  return run_even({Collective::reduce, input, output, datatype, comm, root}, count, op);
}

rtResult_t rtBroadcast(const void* input, void* output, size_t count, rtDataType_t datatype, int root, rtComm_t comm) {
  return run_even({Collective::broadcast, input, output, datatype, comm, root}, count);
}

rtResult_t rtReduceScatter(const void* input, void* output, size_t count, rtDataType_t datatype, rtRedOp_t op,
                           rtComm_t comm) {
  return run_even({Collective::reduce_scatter, input, output, datatype, comm}, count, op);
}

rtResult_t rtAllGather(const void* input, void* output, size_t count, rtDataType_t datatype, rtComm_t comm) {
  return run_even({Collective::all_gather, input, output, datatype, comm}, count);
}

rtResult_t rtGather(const void* input, void* output, size_t count, rtDataType_t datatype, int root, rtComm_t comm) {
  return run_even({Collective::gather, input, output, datatype, comm, root}, count);
}

rtResult_t rtScatter(const void* input, void* output, size_t count, rtDataType_t datatype, int root, rtComm_t comm) {
  return run_even({Collective::scatter, input, output, datatype, comm, root}, count);
}

rtResult_t rtAlltoAll(const void* input, void* output, size_t count, rtDataType_t datatype, rtComm_t comm) {
  return run_even({Collective::all_to_all, input, output, datatype, comm}, count);
}

rtResult_t rtBarrier(rtComm_t comm) {
  // An all_reduce of one element: nobody has the sum before all have come.
  return run({Collective::all_reduce, nullptr, nullptr, rtInt32, comm}, [](Call& call, rtComm& handle) {
    call.count = 1;
    call.input = &handle.barrier_input;
    call.output = &handle.barrier_output;
  });
}

rtResult_t rtReduceScatterV(const void* input, void* output, const size_t* counts, rtDataType_t datatype, rtRedOp_t op,
                            rtComm_t comm) {
  return run({Collective::reduce_scatter, input, output, datatype, comm}, [&](Call& call, rtComm& handle) {
    call.counts = counts_of(counts, handle, "counts");
    set_op(call, op, handle);
  });
}

rtResult_t rtAllGatherV(const void* input, void* output, const size_t* counts, rtDataType_t datatype, rtComm_t comm) {
  return run_uneven({Collective::all_gather, input, output, datatype, comm}, counts);
}

rtResult_t rtGatherV(const void* input, void* output, const size_t* counts, rtDataType_t datatype, int root,
                     rtComm_t comm) {
  return run_uneven({Collective::gather, input, output, datatype, comm, root}, counts);
}

rtResult_t rtScatterV(const void* input, void* output, const size_t* counts, rtDataType_t datatype, int root,
                      rtComm_t comm) {
  return run_uneven({Collective::scatter, input, output, datatype, comm, root}, counts);
}

rtResult_t rtAlltoAllV(const void* input, const size_t* input_counts, void* output, const size_t* output_counts,
                       rtDataType_t datatype, rtComm_t comm) {
  return run({Collective::all_to_all, input, output, datatype, comm}, [&](Call& call, rtComm& handle) {
    thread_local std::vector<uint64_t> both;  // kept, so that a call made before allocates nothing
    const auto sent = counts_of(input_counts, handle, "input_counts");
    const auto got = counts_of(output_counts, handle, "output_counts");
    both.assign(sent.begin(), sent.end());
    both.insert(both.end(), got.begin(), got.end());
    call.counts = both;
  });
}
