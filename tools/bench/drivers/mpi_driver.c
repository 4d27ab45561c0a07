/* One rank of an MPI library, whichever this is compiled against: Open MPI, MPICH, Intel MPI. What it is told is in
 * driver.h; the Makefile beside it builds it, tools/bench/peers.py starts it. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>

#include "driver.h"

/* NULL, or what MPI says of its error code. */
static const char* said(int code) {
  static char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return NULL;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) snprintf(text, sizeof text, "MPI error %d", code);
  return text;
}

static const char* start(int* rank, int* size) {
  const char* error = said(MPI_Init(NULL, NULL));
  if (!error) error = said(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  if (!error) error = said(MPI_Comm_rank(MPI_COMM_WORLD, rank));
  if (!error) error = said(MPI_Comm_size(MPI_COMM_WORLD, size));
  return error;
}

static const char* version(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  return MPI_Get_library_version(text, &length) == MPI_SUCCESS ? text : "MPI of unknown version";
}

static const char* const kTooMany = "MPI counts elements in an int";

static const char* all_reduce(const DriverCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  return said(MPI_Allreduce(call->input, call->output, (int)call->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
}

static const char* reduce_scatter(const DriverCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  return said(
      MPI_Reduce_scatter_block(call->input, call->output, (int)call->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
}

static const char* all_gather(const DriverCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  const int count = (int)call->count;
  return said(MPI_Allgather(call->input, count, MPI_FLOAT, call->output, count, MPI_FLOAT, MPI_COMM_WORLD));
}

static const char* broadcast(const DriverCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  return said(MPI_Bcast(call->output, (int)call->count, MPI_FLOAT, call->root, MPI_COMM_WORLD));
}

static const char* all_to_all(const DriverCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  const int count = (int)call->count;
  return said(MPI_Alltoall(call->input, count, MPI_FLOAT, call->output, count, MPI_FLOAT, MPI_COMM_WORLD));
}

static const char* barrier(void) { return said(MPI_Barrier(MPI_COMM_WORLD)); }

static void finish(void) { MPI_Finalize(); }

int main(int argc, char** argv) {
  static const DriverArm arm = {.start = start,
                                .version = version,
                                .collectives = {[kAllReduce] = all_reduce,
                                                [kReduceScatter] = reduce_scatter,
                                                [kAllGather] = all_gather,
                                                [kBroadcast] = broadcast,
                                                [kAllToAll] = all_to_all},
                                .barrier = barrier,
                                .finish = finish};
  return driver_main(argc, argv, &arm);
}
