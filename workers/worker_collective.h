/* What each collective takes and gives on a rank: how long its buffers are, which data go in, which must come out. The
 * rules are those of measure/collective_data.py, whose data they are: each block has a number of its own, so one in a
 * wrong place is found. Not here: the data (worker_data.h), when what is called (worker_batches.h). */
#ifndef RINGTREE_WORKERS_WORKER_COLLECTIVE_H
#define RINGTREE_WORKERS_WORKER_COLLECTIVE_H

#include <stdbool.h>

#include "worker.h"
#include "worker_data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The names, from "all_reduce" on, with ", " between them. */
const char* worker_collective_names(void);

/* False: there is none of this name. */
bool worker_find_collective(const char* name, WorkerCollective* collective);

/* Elements: of a call (WorkerCall), and of the buffers. */
typedef struct WorkerShape {
  size_t count, input, output;
} WorkerShape;

/* `bytes`: of the larger buffer of a rank, as nccl-tests counts. What an element of `item` bytes, or one in each block,
 * does not fill is left out, but for the first. */
WorkerShape worker_shape(WorkerCollective collective, int size, size_t bytes, size_t item);

/* Whether one rank is special in each call. */
bool worker_is_rooted(WorkerCollective collective);

/* Whether calls on the same buffers change what the next one is given. */
bool worker_reduces(WorkerCollective collective);

/* Who this is, in which call of the launch. */
typedef struct WorkerRole {
  WorkerCollective collective;
  int rank, size, root;
  uint64_t call;
} WorkerRole;

/* Writes what the rank gives; nothing where only the root gives. */
void worker_write_input(WorkerRole role, const WorkerData* data, WorkerShape shape, void* input);

/* Reads all of the output and returns how many elements are not what is due; 0 where nothing is. */
size_t worker_wrong_output(WorkerRole role, const WorkerData* data, WorkerShape shape, const void* output);

#ifdef __cplusplus
}
#endif

#endif
