/* See driver_batches.h. */
#include "driver_batches.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "driver_data.h"

enum {
  kLine = 64,
  kGap = 128, /* between buffers: without it, sizes of a power of two would all fall on the same cache sets */
  kMaxPairs = 8
};
static const size_t kRotateBelow = (size_t)64 << 20; /* bytes of all pairs together */
/* Arms that wait for their turn must not hold all of the machine's memory: what is larger is given back at once. */
static const size_t kKeepBelow = (size_t)128 << 20;

typedef struct Buffers {
  size_t num_pairs;
  size_t count; /* elements */
  const float* inputs[kMaxPairs];
  float* outputs[kMaxPairs];
} Buffers;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void driver_release(const DriverArm* arm, DriverMemory* memory) {
  if (memory->base && memory->shared) arm->free_shared(memory->base);
  if (memory->base && !memory->shared) munmap(memory->base, memory->capacity);
  *memory = (DriverMemory){0};
}

/* Makes sure of `bytes`; `anew`: they were not there before. Shared memory is made anew when the size changes, because
 * all ranks must do alike. */
static const char* provide(const DriverArm* arm, DriverMemory* memory, size_t bytes, bool shared, bool* anew) {
  const bool fits = shared ? memory->capacity == bytes : memory->capacity >= bytes;
  *anew = !(memory->base && memory->shared == shared && fits);
  if (!*anew) return NULL;
  driver_release(arm, memory);
  if (shared) {
    memory->base = (char*)arm->allocate_shared(bytes);
    if (!memory->base) return "the library gave no shared memory of this size";
  } else {
    void* base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return "no memory for buffers of this size";
    memory->base = (char*)base;
  }
  memory->capacity = bytes;
  memory->shared = shared;
  return NULL;
}

/* Cuts the memory into pairs and touches all of it: outputs hold NaN, so that what no batch writes counts as wrong. */
static const char* lay_out(const DriverArm* arm, const DriverRun* run, DriverMemory* memory, Buffers* buffers,
                           bool* anew) {
  buffers->count = run->bytes < sizeof(float) ? 1 : run->bytes / sizeof(float);
  const size_t bytes = buffers->count * sizeof(float);
  const size_t stride = (run->offset + bytes + kLine - 1) / kLine * kLine + kGap;
  buffers->num_pairs = run->calls < kMaxPairs ? run->calls : kMaxPairs;
  if (2 * buffers->num_pairs * stride > kRotateBelow) buffers->num_pairs = 1;
  const char* error = provide(arm, memory, 2 * buffers->num_pairs * stride, run->shared, anew);
  if (error) return error;
  memset(memory->base, 0xff, 2 * buffers->num_pairs * stride);
  for (size_t pair = 0; pair < buffers->num_pairs; ++pair) {
    char* at = memory->base + run->offset + 2 * pair * stride;
    buffers->inputs[pair] = (const float*)(const void*)at;
    buffers->outputs[pair] = (float*)(void*)(at + stride);
  }
  return NULL;
}

static const char* timed_calls(const DriverArm* arm, const Buffers* buffers, size_t calls, double* seconds) {
  const char* error = arm->barrier();
  size_t pair = 0;
  const double start = now();
  for (size_t call = 0; call < calls && !error; ++call) {
    error = arm->all_reduce(buffers->count, buffers->inputs[pair], buffers->outputs[pair]);
    if (++pair == buffers->num_pairs) pair = 0;
  }
  *seconds = now() - start;
  return error;
}

const char* driver_batches(const DriverArm* arm, int rank, int size, const DriverRun* run, DriverMemory* memory,
                           double* seconds, size_t* wrong) {
  Buffers buffers;
  bool anew = false;
  const char* error = lay_out(arm, run, memory, &buffers, &anew);
  /* In the first batch peers map the buffers and libraries register them: no batch of a program that goes on has that. */
  const size_t warmup = run->warmup + (anew ? 1 : 0);
  *wrong = 0;
  for (size_t batch = 0; batch < warmup + run->batches && !error; ++batch) {
    double elapsed = 0;
    DriverData data = {run->seed, batch, 0};
    for (data.pair = 0; data.pair < buffers.num_pairs; ++data.pair)
      driver_fill(data, rank, (float*)buffers.inputs[data.pair], buffers.count);
    error = timed_calls(arm, &buffers, run->calls, &elapsed);
    if (batch >= warmup) seconds[batch - warmup] = elapsed;
    for (data.pair = 0; data.pair < buffers.num_pairs && !error; ++data.pair)
      *wrong += driver_count_wrong(data, size, buffers.outputs[data.pair], buffers.count);
  }
  if (memory->capacity > kKeepBelow) driver_release(arm, memory);
  return error;
}
