// One rank of Intel's oneCCL on CPUs. What it is told is in worker.h; ringtree/arms/worker_building.py compiles it,
// ringtree/arms/mpi.py starts it with Intel MPI's mpiexec, over which oneCCL runs as well; here MPI only hands rank 0's
// address to the others.
#include <mpi.h>

#include <cstdio>
#include <map>
#include <memory>
#include <oneapi/ccl.hpp>
#include <string>

#include "worker.h"
#include "worker_exceptions.h"

namespace {

struct Library {
  std::shared_ptr<ccl::kvs> store;  // rank 0 serves it: outlives the communicator
  std::unique_ptr<ccl::communicator> communicator;
};
Library library;

const char* start(int* rank, int* size) {
  int level = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS ||
      MPI_Comm_rank(MPI_COMM_WORLD, rank) != MPI_SUCCESS || MPI_Comm_size(MPI_COMM_WORLD, size) != MPI_SUCCESS)
    return "MPI does not start";
  return said([&] {
    ccl::init();
    ccl::kvs::address_type address;
    if (*rank == 0) {
      library.store = ccl::create_main_kvs();
      address = library.store->get_address();
    }
    if (MPI_Bcast(address.data(), static_cast<int>(address.size()), MPI_BYTE, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
      throw std::runtime_error("MPI_Bcast failed");
    if (*rank != 0) library.store = ccl::create_kvs(address);
    library.communicator = std::make_unique<ccl::communicator>(ccl::create_communicator(*size, *rank, library.store));
  });
}

const char* version() {
  static char text[kMaxText];
  const ccl::library_version found = ccl::get_library_version();
  std::snprintf(text, sizeof text, "oneCCL %u.%u.%u (%s)", found.major, found.minor, found.update, found.full);
  return text;
}

ccl::datatype type = ccl::datatype::float32;
ccl::reduction op = ccl::reduction::sum;

const char* prepare(const char* dtype, const char* name) {
  static const std::map<std::string, ccl::datatype> types = {
      {"float32", ccl::datatype::float32},   {"float64", ccl::datatype::float64}, {"float16", ccl::datatype::float16},
      {"bfloat16", ccl::datatype::bfloat16}, {"int8", ccl::datatype::int8},       {"uint8", ccl::datatype::uint8},
      {"int32", ccl::datatype::int32},       {"uint32", ccl::datatype::uint32},   {"int64", ccl::datatype::int64},
      {"uint64", ccl::datatype::uint64}};
  static const std::map<std::string, ccl::reduction> ops = {{"sum", ccl::reduction::sum},
                                                            {"prod", ccl::reduction::prod},
                                                            {"min", ccl::reduction::min},
                                                            {"max", ccl::reduction::max},
                                                            {"none", ccl::reduction::sum}};
  const auto found_type = types.find(dtype);
  const auto found_op = ops.find(name);
  if (found_type == types.end() || found_op == ops.end()) return "unsupported";
  type = found_type->second;
  op = found_op->second;
  return nullptr;
}

const char* all_reduce(const WorkerCall* call) {
  return said([&] { ccl::allreduce(call->input, call->output, call->count, type, op, *library.communicator).wait(); });
}

const char* reduce_scatter(const WorkerCall* call) {
  return said(
      [&] { ccl::reduce_scatter(call->input, call->output, call->count, type, op, *library.communicator).wait(); });
}

const char* all_gather(const WorkerCall* call) {
  return said([&] { ccl::allgather(call->input, call->output, call->count, type, *library.communicator).wait(); });
}

const char* broadcast(const WorkerCall* call) {
  return said([&] { ccl::broadcast(call->output, call->count, type, call->root, *library.communicator).wait(); });
}

const char* all_to_all(const WorkerCall* call) {
  if (call->in_place) return "unsupported";
  return said([&] { ccl::alltoall(call->input, call->output, call->count, type, *library.communicator).wait(); });
}

const char* reduce(const WorkerCall* call) {
  return said(
      [&] { ccl::reduce(call->input, call->output, call->count, type, op, call->root, *library.communicator).wait(); });
}

const char* barrier() {
  return said([] { ccl::barrier(*library.communicator).wait(); });
}

void finish() {
  library.communicator.reset();
  library.store.reset();
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  static WorkerArm arm = {};
  arm.start = start;
  arm.version = version;
  arm.collectives[kAllReduce] = all_reduce;
  arm.collectives[kReduceScatter] = reduce_scatter;
  arm.collectives[kAllGather] = all_gather;
  arm.collectives[kBroadcast] = broadcast;
  arm.collectives[kAllToAll] = all_to_all;
  arm.collectives[kReduce] = reduce;
  arm.prepare = prepare;
  arm.barrier = barrier;
  arm.finish = finish;
  return worker_main(argc, argv, &arm);
}
