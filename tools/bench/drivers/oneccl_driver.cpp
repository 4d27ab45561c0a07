// One rank of Intel's oneCCL on CPUs. What it is told is in driver.h; the Makefile beside it builds it,
// tools/bench/peers.py starts it with Intel MPI's mpiexec, over which oneCCL runs as well; here MPI only hands rank 0's
// address to the others.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <oneapi/ccl.hpp>
#include <string>

#include "driver.h"

namespace {

struct Library {
  std::shared_ptr<ccl::kvs> store;  // rank 0 serves it: outlives the communicator
  std::unique_ptr<ccl::communicator> communicator;
  std::string error;  // of the last function that failed
};
Library library;

// Runs `work`; its exception as the text that drivers return.
template <typename Work>
const char* said(Work&& work) {
  try {
    work();
    return nullptr;
  } catch (const std::exception& error) {
    library.error = error.what();
    return library.error.c_str();
  }
}

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

constexpr ccl::datatype kType = ccl::datatype::float32;

const char* all_reduce(const DriverCall* call) {
  return said([&] {
    ccl::allreduce(call->input, call->output, call->count, kType, ccl::reduction::sum, *library.communicator).wait();
  });
}

const char* reduce_scatter(const DriverCall* call) {
  return said([&] {
    ccl::reduce_scatter(call->input, call->output, call->count, kType, ccl::reduction::sum, *library.communicator)
        .wait();
  });
}

const char* all_gather(const DriverCall* call) {
  return said([&] { ccl::allgather(call->input, call->output, call->count, kType, *library.communicator).wait(); });
}

const char* broadcast(const DriverCall* call) {
  return said([&] { ccl::broadcast(call->output, call->count, kType, call->root, *library.communicator).wait(); });
}

const char* all_to_all(const DriverCall* call) {
  return said([&] { ccl::alltoall(call->input, call->output, call->count, kType, *library.communicator).wait(); });
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
  static const DriverArm arm = {start,   version, {all_reduce, reduce_scatter, all_gather, broadcast, all_to_all},
                                barrier, nullptr, nullptr,
                                nullptr, finish};
  return driver_main(argc, argv, &arm);
}
