/* The data that calls move and reduce, and the check of what arrives. The lab makes them (measure/collective_data.py),
 * for workers as for all other arms: a pattern of every rank and the one that is due, whose results are exact in any
 * order. A worker copies its own from a place that the call decides, and compares bytes. Not here: what belongs where
 * (worker_collective.h), timing. */
#ifndef RINGTREE_WORKERS_WORKER_DATA_H
#define RINGTREE_WORKERS_WORKER_DATA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Patterns of `period` elements of `item` bytes, twice in a row each. All zero: none were loaded. */
typedef struct WorkerData {
  size_t item, period, step; /* the pattern begins `step` elements further with each number */
  char *own, *due;
} WorkerData;

/* Reads `path`: the patterns of `size` ranks and the one that is due, one after the other. Returns NULL or what is
 * wrong. What was loaded before is given back, also on errors. */
const char* worker_data_load(WorkerData* data, const char* path, int rank, int size, size_t item, size_t period,
                             size_t step);

void worker_data_free(WorkerData* data);

/* Writes `count` elements of this rank's pattern as of `number`; `to` may have any alignment. */
void worker_data_write(const WorkerData* data, uint64_t number, void* to, size_t count);

/* Reads `count` elements (any alignment) and returns how many are not what is due. */
size_t worker_data_wrong(const WorkerData* data, uint64_t number, const void* found, size_t count);

#ifdef __cplusplus
}
#endif

#endif
