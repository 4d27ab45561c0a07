/* What each collective takes and gives on a rank: how long its buffers are, which numbers go in, which must come out.
 * Blocks of different ranks hold different numbers, so a block in another's place is wrong. Not here: the numbers
 * (driver_data.h), when what is called (driver_batches.h). */
#ifndef RINGTREE_TOOLS_BENCH_DRIVERS_DRIVER_COLLECTIVE_H
#define RINGTREE_TOOLS_BENCH_DRIVERS_DRIVER_COLLECTIVE_H

#include <stdbool.h>

#include "driver.h"
#include "driver_data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The names, from "all_reduce" on, with ", " between them. */
const char* driver_collective_names(void);

/* False: there is none of this name. */
bool driver_find_collective(const char* name, DriverCollective* collective);

/* Elements: of a call (DriverCall) and of the buffers. */
typedef struct DriverShape {
  size_t count, input, output;
  bool in_place; /* the two are one buffer */
} DriverShape;

/* `bytes`: of the larger buffer of a rank, as nccl-tests counts. What a float32, or one in each block, does not fill is
 * left out, but for the first. */
DriverShape driver_shape(DriverCollective collective, int size, size_t bytes);

/* Ranks that are root in turn, from call to call; 1 where no rank is special. If it were one rank's for ever, that one
 * would never have to wait for the others, and a batch would time how far a library lets it run ahead. */
int driver_num_roots(DriverCollective collective, int size);

/* Who this is, in which call. */
typedef struct DriverRole {
  DriverCollective collective;
  int rank, size, root;
} DriverRole;

/* Writes what the rank gives. A rank that gives nothing (in a broadcast all but the root) keeps what is there. */
void driver_fill_input(DriverRole role, DriverData data, DriverShape shape, float* input);

/* Reads all of the output and returns how many elements are not exactly what is due. */
size_t driver_count_wrong_output(DriverRole role, DriverData data, DriverShape shape, const float* output);

#ifdef __cplusplus
}
#endif

#endif
