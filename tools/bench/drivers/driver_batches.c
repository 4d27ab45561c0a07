/* See driver_batches.h. */
#include "driver_batches.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "driver_collective.h"

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
  DriverShape shape;
  float* inputs[kMaxPairs];
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

/* From one buffer of `elements` to the next. */
static size_t stride_of(size_t elements, size_t offset) {
  return (offset + elements * sizeof(float) + kLine - 1) / kLine * kLine + kGap;
}

/* Cuts the memory into pairs and touches all of it: outputs hold NaN, so that what no batch writes counts as wrong. */
static const char* lay_out(const DriverArm* arm, const DriverRun* run, int size, DriverMemory* memory, Buffers* buffers,
                           bool* anew) {
  const DriverShape shape = buffers->shape = driver_shape(run->collective, size, run->bytes);
  const size_t to_output = shape.in_place ? 0 : stride_of(shape.input, run->offset);
  const size_t pair_bytes = to_output + stride_of(shape.output, run->offset);
  buffers->num_pairs = run->calls < kMaxPairs ? run->calls : kMaxPairs;
  if (buffers->num_pairs * pair_bytes > kRotateBelow) buffers->num_pairs = 1;
  const char* error = provide(arm, memory, buffers->num_pairs * pair_bytes, run->shared, anew);
  if (error) return error;
  memset(memory->base, 0xff, buffers->num_pairs * pair_bytes);
  for (size_t pair = 0; pair < buffers->num_pairs; ++pair) {
    char* at = memory->base + run->offset + pair * pair_bytes;
    buffers->inputs[pair] = (float*)(void*)at;
    buffers->outputs[pair] = (float*)(void*)(at + to_output);
  }
  return NULL;
}

static int root_of(size_t call, int num_roots) { return (int)(call % (size_t)num_roots); }

/* The roots come in turn, beginning with `first_root` of `num_roots`. */
static const char* timed_calls(const DriverArm* arm, DriverFunction function, const Buffers* buffers, size_t calls,
                               int first_root, int num_roots, double* seconds) {
  DriverCall call = {buffers->shape.count, first_root, NULL, NULL};
  const char* error = arm->barrier();
  size_t pair = 0;
  const double start = now();
  for (size_t i = 0; i < calls && !error; ++i) {
    call.input = buffers->inputs[pair];
    call.output = buffers->outputs[pair];
    error = function(&call);
    if (++pair == buffers->num_pairs) pair = 0;
    if (++call.root == num_roots) call.root = 0;
  }
  *seconds = now() - start;
  return error;
}

const char* driver_batches(const DriverArm* arm, int rank, int size, const DriverRun* run, DriverMemory* memory,
                           double* seconds, size_t* wrong) {
  Buffers buffers;
  bool anew = false;
  const char* error = lay_out(arm, run, size, memory, &buffers, &anew);
  /* In the first batch peers map the buffers and libraries register them: no batch of a program that goes on has that.
   */
  const size_t warmup = run->warmup + (anew ? 1 : 0);
  const int num_roots = driver_num_roots(run->collective, size);
  DriverRole role = {run->collective, rank, size, 0};
  *wrong = 0;
  for (size_t batch = 0; batch < warmup + run->batches && !error; ++batch) {
    double elapsed = 0;
    DriverData data = {run->seed, batch, 0};
    const size_t first_call = batch * run->calls; /* of the run: roots go on from batch to batch */
    for (data.pair = 0; data.pair < buffers.num_pairs; ++data.pair) {
      role.root = root_of(first_call + data.pair, num_roots);
      driver_fill_input(role, data, buffers.shape, buffers.inputs[data.pair]);
    }
    error = timed_calls(arm, arm->collectives[run->collective], &buffers, run->calls, root_of(first_call, num_roots),
                        num_roots, &elapsed);
    if (batch >= warmup) seconds[batch - warmup] = elapsed;
    for (data.pair = 0; data.pair < buffers.num_pairs && !error; ++data.pair) {
      /* Later calls on this pair may have another root, which by then holds what the first one gave. */
      role.root = root_of(first_call + data.pair, num_roots);
      *wrong += driver_count_wrong_output(role, data, buffers.shape, buffers.outputs[data.pair]);
    }
  }
  if (memory->capacity > kKeepBelow) driver_release(arm, memory);
  return error;
}
