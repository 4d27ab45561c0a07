/* See worker_batches.h. */
#include "worker_batches.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "worker_collective.h"

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
  WorkerShape shape;
  bool in_place;
  char* inputs[kMaxPairs];
  char* outputs[kMaxPairs];
} Buffers;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void worker_release(const WorkerArm* arm, WorkerMemory* memory) {
  if (memory->base && memory->shared) arm->free_shared(memory->base);
  if (memory->base && !memory->shared) munmap(memory->base, memory->capacity);
  *memory = (WorkerMemory){0};
}

/* Makes sure of `bytes`; `anew`: they were not there before. Shared memory is made anew when the size changes, because
 * all ranks must do alike. */
static const char* provide(const WorkerArm* arm, WorkerMemory* memory, size_t bytes, bool shared, bool* anew) {
  const bool fits = shared ? memory->capacity == bytes : memory->capacity >= bytes;
  *anew = !(memory->base && memory->shared == shared && fits);
  if (!*anew) return NULL;
  worker_release(arm, memory);
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

/* From one buffer of `bytes` to the next. */
static size_t stride_of(size_t bytes, size_t offset) { return (offset + bytes + kLine - 1) / kLine * kLine + kGap; }

/* Cuts the memory into pairs and touches all of it, with bytes that are not numbers: what no batch writes counts as
 * wrong. */
static const char* lay_out(const WorkerArm* arm, const WorkerRun* run, int rank, int size, size_t item,
                           WorkerMemory* memory, Buffers* buffers, bool* anew) {
  const WorkerShape shape = buffers->shape = worker_shape(run->collective, size, run->bytes, item);
  const size_t input = shape.input * item, output = shape.output * item, own = (size_t)rank * shape.count * item;
  buffers->in_place = run->in_place || run->collective == kBroadcast;
  const size_t to_output = buffers->in_place ? 0 : stride_of(input, run->offset);
  const size_t pair_bytes = to_output + stride_of(buffers->in_place && input > output ? input : output, run->offset);
  buffers->num_pairs = run->calls < kMaxPairs ? run->calls : kMaxPairs;
  if (buffers->num_pairs * pair_bytes > kRotateBelow) buffers->num_pairs = 1;
  const char* error = provide(arm, memory, buffers->num_pairs * pair_bytes, run->shared, anew);
  if (error) return error;
  memset(memory->base, 0xff, buffers->num_pairs * pair_bytes);
  for (size_t pair = 0; pair < buffers->num_pairs; ++pair) {
    char* at = memory->base + run->offset + pair * pair_bytes;
    buffers->inputs[pair] = at + (buffers->in_place && input < output ? own : 0);
    buffers->outputs[pair] = at + (buffers->in_place && output < input ? own : to_output);
  }
  return NULL;
}

/* Of the `call`-th of the run. */
static int root_of(const WorkerRun* run, size_t call, int size) {
  if (!worker_is_rooted(run->collective)) return 0;
  return run->root >= 0 ? run->root : (int)(call % (size_t)size);
}

static const char* timed_calls(const WorkerArm* arm, const WorkerRun* run, const Buffers* buffers, size_t first_call,
                               int size, double* seconds) {
  const WorkerFunction function = arm->collectives[run->collective];
  const bool turns = worker_is_rooted(run->collective) && run->root < 0;
  WorkerCall call = {buffers->shape.count, root_of(run, first_call, size), buffers->in_place, NULL, NULL};
  const char* error = arm->barrier();
  size_t pair = 0;
  const double start = now();
  for (size_t i = 0; i < run->calls && !error; ++i) {
    call.input = buffers->inputs[pair];
    call.output = buffers->outputs[pair];
    error = function(&call);
    if (++pair == buffers->num_pairs) pair = 0;
    if (turns && ++call.root == size) call.root = 0;
  }
  *seconds = now() - start;
  /* Nobody checks or writes before all have stopped their clocks: on cores that ranks share it would take the others'
   * time. */
  return error ? error : arm->barrier();
}

const char* worker_batches(const WorkerArm* arm, int rank, int size, const WorkerRun* run, const WorkerData* data,
                           WorkerMemory* memory, double* seconds, size_t* wrong) {
  Buffers buffers;
  bool anew = false;
  const char* error = lay_out(arm, run, rank, size, data->item, memory, &buffers, &anew);
  /* In the first batch peers map the buffers and libraries register them: no batch of a program that goes on has that.
   */
  const size_t warmup = run->warmup + (anew ? 1 : 0);
  WorkerRole role = {run->collective, rank, size, 0, 0};
  *wrong = 0;
  for (size_t batch = 0; batch < warmup + run->batches && !error; ++batch) {
    double elapsed = 0;
    const size_t first_call = batch * run->calls; /* of the run: roots go on from batch to batch */
    for (size_t pair = 0; pair < buffers.num_pairs; ++pair) {
      role.root = root_of(run, first_call + pair, size);
      role.call = run->first_call + first_call + pair;
      worker_write_input(role, data, buffers.shape, buffers.inputs[pair]);
    }
    error = timed_calls(arm, run, &buffers, first_call, size, &elapsed);
    if (batch >= warmup) seconds[batch - warmup] = elapsed;
    const bool used_twice = run->in_place && worker_reduces(run->collective) && run->calls > buffers.num_pairs;
    for (size_t pair = 0; pair < buffers.num_pairs && !error && !used_twice; ++pair) {
      /* Later calls on this pair may have another root, which by then holds what the first one gave. */
      role.root = root_of(run, first_call + pair, size);
      role.call = run->first_call + first_call + pair;
      *wrong += worker_wrong_output(role, data, buffers.shape, buffers.outputs[pair]);
    }
  }
  if (memory->capacity > kKeepBelow) worker_release(arm, memory);
  return error;
}
