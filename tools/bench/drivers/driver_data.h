/* The numbers that the drivers move and sum, and the check of what arrives. Each element is a whole number of 12 bits,
 * a hash of (seed, rank, batch, pair, index), so sums of up to 4,096 ranks are exact in float32 in any order of adding
 * and one `!=` tells a wrong element; and nothing that an earlier batch left behind is right in this one. Not here:
 * what belongs where (driver_collective.h), timing. */
#ifndef RINGTREE_TOOLS_BENCH_DRIVERS_DRIVER_DATA_H
#define RINGTREE_TOOLS_BENCH_DRIVERS_DRIVER_DATA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kDriverMaxRanks = 4096 };

/* Which data: the same text on all ranks of a call but for the rank. */
typedef struct DriverData {
  uint64_t seed;
  uint64_t batch; /* of the run, warm-up included */
  uint64_t pair;  /* of buffers */
} DriverData;

/* The element of `rank` at `index`, from -2048 to 2047: the slow obvious way to the numbers below. */
int driver_element(DriverData data, int rank, size_t index);

/* Writes `count` elements of `rank`; `to` may have any alignment. */
void driver_fill(DriverData data, int rank, float* to, size_t count);

/* What elements of an output are made of: the sums over `num_ranks` ranks of what these hold from index `start` on. */
typedef struct DriverSource {
  int first_rank, num_ranks;
  size_t start;
} DriverSource;

/* Reads `count` elements (any alignment) and returns how many differ from those of `source`. A NaN differs. */
size_t driver_count_wrong(DriverData data, DriverSource source, const float* output, size_t count);

#ifdef __cplusplus
}
#endif

#endif
