/* Times batches of calls and checks every element of what they give. Not here: whence the request comes
 * (worker_session.c), what goes in and must come out (worker_collective.h). */
#ifndef RINGTREE_WORKERS_WORKER_BATCHES_H
#define RINGTREE_WORKERS_WORKER_BATCHES_H

#include <stdbool.h>

#include "worker.h"
#include "worker_data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One `run` line of the controller. */
typedef struct WorkerRun {
  WorkerCollective collective;
  size_t bytes;        /* of a rank's larger buffer (worker_shape()) */
  size_t calls;        /* of a batch */
  size_t batches;      /* that are timed */
  size_t warmup;       /* batches before them, checked but not timed; one more where buffers are new */
  size_t offset;       /* bytes by which buffers are moved off 64-byte alignment */
  uint64_t first_call; /* its number: no two calls of a launch have the same data */
  bool shared;         /* buffers that peers read in place */
  bool in_place;       /* a broadcast always is */
  int root;            /* -1: the ranks come in turn */
} WorkerRun;

/* The memory of the buffers, kept from run to run so that only the first run of a size pays for its pages. All zero to
 * begin with. */
typedef struct WorkerMemory {
  char* base;
  size_t capacity;
  bool shared;
} WorkerMemory;

/* Runs warm-up and timed batches of what the arm has. Each batch: rewrite the inputs, barrier, clock, `calls` calls,
 * clock, barrier, read every output element and compare. Calls go round 8 pairs of buffers (fewer if there are fewer
 * calls; one if 8 would take more than 64 MB), so that small data is not always in the same lines. If one rank were
 * root for ever, it would never have to wait for the others, and a batch would time how far a library lets it run
 * ahead: so roots come in turn. Reductions in place are checked only where no buffer was used twice. `seconds` gets
 * run->batches times; `wrong` the number of elements that were not exactly what is due. Returns NULL or what went
 * wrong. */
const char* worker_batches(const WorkerArm* arm, int rank, int size, const WorkerRun* run, const WorkerData* data,
                           WorkerMemory* memory, double* seconds, size_t* wrong);

/* Gives the memory back. */
void worker_release(const WorkerArm* arm, WorkerMemory* memory);

#ifdef __cplusplus
}
#endif

#endif
