/* Times batches of calls and checks every element of what they give. Not here: whence the request comes
 * (driver_session.c), what goes in and must come out (driver_collective.h). */
#ifndef RINGTREE_TOOLS_BENCH_DRIVERS_DRIVER_BATCHES_H
#define RINGTREE_TOOLS_BENCH_DRIVERS_DRIVER_BATCHES_H

#include <stdbool.h>

#include "driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One `run` line of the controller. */
typedef struct DriverRun {
  DriverCollective collective;
  size_t bytes;   /* of a rank's larger buffer (driver_shape()) */
  size_t calls;   /* of a batch */
  size_t batches; /* that are timed */
  size_t warmup;  /* batches before them, checked but not timed; one more where buffers are new */
  size_t offset;  /* bytes by which buffers are moved off 64-byte alignment */
  uint64_t seed;
  bool shared; /* buffers that peers read in place */
} DriverRun;

/* The memory of the buffers, kept from run to run so that only the first run of a size pays for its pages. All zero to
 * begin with. */
typedef struct DriverMemory {
  char* base;
  size_t capacity;
  bool shared;
} DriverMemory;

/* Runs warm-up and timed batches of what the arm has. Each batch: rewrite the inputs, barrier, clock, `calls` calls,
 * clock, read every output element and compare. Calls go round 8 pairs of buffers (fewer if there are fewer calls; one
 * if 8 would take more than 64 MB), so that small data is not always in the same lines; and, where there is a root,
 * round the ranks (driver_num_roots()). `seconds` gets run->batches times; `wrong` the number of elements that were not
 * exactly what is due. Returns NULL or what went wrong. */
const char* driver_batches(const DriverArm* arm, int rank, int size, const DriverRun* run, DriverMemory* memory,
                           double* seconds, size_t* wrong);

/* Gives the memory back. */
void driver_release(const DriverArm* arm, DriverMemory* memory);

#ifdef __cplusplus
}
#endif

#endif
