/* What the benchmark's drivers share. A driver is one rank of one arm (an MPI, oneCCL, our engine): it connects to the
 * controller's Unix socket, says who it is, then sleeps in read() until it is told what to time. Everything but the
 * library's own calls is the same code for all arms, so what is compared is the libraries.
 *
 * The lines that travel (one each, answered by one):
 *   driver:      {"rank":0,"size":2,"pid":123,"version":"Open MPI v5.0.11","cores":"0"}       once, on connecting
 *   controller:  run COLLECTIVE BYTES CALLS BATCHES WARMUP OFFSET SEED SHARED
 *                                                             ->  ok WRONG t1 ... tBATCHES     or  error TEXT
 *                algorithm NAME [PROTOCOL [SLICE_BYTES [streaming|ordinary]]]    ->  ok                or  error TEXT
 *                quit                                                     (the driver leaves; so it does at a hang-up)
 * COLLECTIVE: all_reduce, reduce_scatter, all_gather, broadcast or all_to_all; t: seconds of one batch of CALLS calls
 * on this rank; WRONG: output elements that were not exactly what is due, over all batches, warm-up included. Not here:
 * what to time, in which order, and what the times mean (the Python beside this folder).
 *
 * C, usable from C++: C11, and GNU/Linux. One thread. */
#ifndef RINGTREE_TOOLS_BENCH_DRIVERS_DRIVER_H
#define RINGTREE_TOOLS_BENCH_DRIVERS_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kMaxCores = 1024, kMaxText = 512 };

typedef enum DriverCollective {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kNumCollectives
} DriverCollective;

/* One call on one rank: float32, blocking; what is reduced is summed. */
typedef struct DriverCall {
  size_t count; /* elements of the vector (all_reduce, broadcast), else of a block: a buffer is one, or one a rank */
  int root;     /* of a broadcast; 0 elsewhere */
  const float* input;
  float* output; /* not where the input is; of a broadcast, which is in place, the same */
} DriverCall;

typedef const char* (*DriverFunction)(const DriverCall* call);

/* What a driver must bring. Functions that return text return NULL when all is well, else what went wrong; the text
 * lives until the arm's next call. Members marked (or NULL) are left out by arms that have no such thing. */
typedef struct DriverArm {
  /* Starts the library (the process is pinned by now) and sets rank and size. */
  const char* (*start)(int* rank, int* size);
  /* The library and its version, any text; valid after start. */
  const char* (*version)(void);
  /* What calls each collective, or NULL, in the order of DriverCollective. */
  DriverFunction collectives[kNumCollectives];
  /* Returns when all ranks have called it. */
  const char* (*barrier)(void);
  /* Forces what the words of the `algorithm` line say, from NAME on ("auto": nothing), or NULL. */
  const char* (*algorithm)(char** words, size_t num_words);
  /* Memory that peers read in place, or NULL: `bytes` of it, 64-byte aligned, NULL where there is none; and back. Both
   * are called by all ranks alike. */
  void* (*allocate_shared)(size_t bytes);
  void (*free_shared)(void* memory);
  /* Leaves in order. */
  void (*finish)(void);
} DriverArm;

typedef struct DriverOptions {
  const char* socket_path; /* of the controller */
  int cores[kMaxCores];    /* rank r is pinned to cores[r % num_cores] */
  int num_cores;           /* 0: not pinned */
} DriverOptions;

/* Understands `--socket PATH` and `--pin 0,1` at argv[index] and moves index past both words. 1: it did; 0: the option
 * is another one's; -1: the value is missing or malformed (said on stderr). */
int driver_option(int argc, char** argv, int* index, DriverOptions* options);

/* This process's rank as the launcher says it in the environment (Open MPI, PMI, torchrun), before any library has
 * started; -1 if it does not. */
int driver_environment_rank(void);

/* Pins the calling thread, and so the threads that it will start. 0: done, or there is nothing to pin to. */
int driver_pin(const DriverOptions* options, int rank);

/* The calling thread's cores, as "0-3,8"; cut off at a whole range if it is longer than `capacity`. Said to the
 * controller, so that a library that undoes the pinning is seen. */
void driver_cores_text(char* text, size_t capacity);

/* Pins, starts the arm, connects, and serves the controller until it quits or hangs up. Returns main()'s exit code. */
int driver_run(const DriverArm* arm, const DriverOptions* options, int rank);

/* As driver_run, for a socket that is connected already. */
int driver_serve(const DriverArm* arm, int socket, int rank, int size);

/* main() of the arms that have no options of their own. */
int driver_main(int argc, char** argv, const DriverArm* arm);

#ifdef __cplusplus
}
#endif

#endif
