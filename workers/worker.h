/* What native workers share. A worker is one rank of one arm (an MPI, oneCCL, our engine): it connects to the
 * controller's Unix socket, says who it is, then sleeps in read() until it is told what to time. Everything but the
 * library's own calls is the same code for all arms, so what is compared is the libraries.
 *
 * The lines that travel (one each, answered by one):
 *   worker:      {"rank":0,"size":2,"pid":123,"version":"Open MPI v5.0.11","cores":"0"}       once, on connecting
 *   controller:  data ITEM_BYTES PERIOD STEP PATH            the patterns (worker_data.h)  ->  ok  or  error TEXT
 *                run COLLECTIVE DTYPE OP BYTES CALLS BATCHES WARMUP OFFSET FIRST SHARED IN_PLACE ROOT
 *                                                             ->  ok WRONG t1 ... tBATCHES     or  error TEXT
 *                algorithm NAME [PROTOCOL [SLICE_BYTES [streaming|ordinary]]]    ->  ok                or  error TEXT
 *                control NAME           what the library has it set to: a name or number  ->  ok TEXT  or  error TEXT
 *                quit                                                     (the worker leaves; so it does at a hang-up)
 * DTYPE and OP as in measure/exact_data.py, OP "none" where nothing is reduced; FIRST: number of the first call; ROOT:
 * "turn", or a rank. t: seconds of one batch of CALLS calls on this rank; WRONG: output elements that were not exactly
 * what is due, over all batches, warm-up included. "error unsupported": the library has no such thing, and can go on.
 * Not here: what to time, in which order, and what the times mean (ringtree/measure).
 *
 * C, usable from C++: C11, and GNU/Linux. One thread. */
#ifndef RINGTREE_WORKERS_WORKER_H
#define RINGTREE_WORKERS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kMaxCores = 1024, kMaxText = 512, kMaxRanks = 4096 };

typedef enum WorkerCollective {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kReduce,
  kGather,
  kScatter,
  kNumCollectives
} WorkerCollective;

/* One call on one rank, blocking; of the element type and op that the arm was told to prepare. */
typedef struct WorkerCall {
  size_t count;  /* elements of the vector (all_reduce, broadcast, reduce), else of a block */
  int root;      /* of collectives that have one; 0 elsewhere */
  bool in_place; /* input and output are the same, or one is the own block of the other; a broadcast always */
  const void* input;
  void* output;
} WorkerCall;

typedef const char* (*WorkerFunction)(const WorkerCall* call);

/* What a worker must bring. Functions that return text return NULL when all is well, else what went wrong; the text
 * lives until the arm's next call. Members marked (or NULL) are left out by arms that have no such thing. */
typedef struct WorkerArm {
  /* Starts the library (the process is pinned by now) and sets rank and size. */
  const char* (*start)(int* rank, int* size);
  /* The library and its version, any text; valid after start. */
  const char* (*version)(void);
  /* What calls each collective, or NULL, in the order of WorkerCollective. */
  WorkerFunction collectives[kNumCollectives];
  /* Sets the element type and op of the calls that follow; "unsupported" where the library has none such. */
  const char* (*prepare)(const char* dtype, const char* op);
  /* Returns when all ranks have called it. */
  const char* (*barrier)(void);
  /* Forces what the words of the `algorithm` line say, from NAME on ("auto": nothing), or NULL. */
  const char* (*algorithm)(char** words, size_t num_words);
  /* Writes what the library's own variable `name` is set to, as the library says it, or NULL. */
  const char* (*control)(const char* name, char* value, size_t capacity);
  /* Memory that peers read in place, or NULL: `bytes` of it, 64-byte aligned, NULL where there is none; and back. Both
   * are called by all ranks alike. */
  void* (*allocate_shared)(size_t bytes);
  void (*free_shared)(void* memory);
  /* Leaves in order. */
  void (*finish)(void);
} WorkerArm;

typedef struct WorkerOptions {
  const char* socket_path; /* of the controller */
  int cores[kMaxCores];    /* rank r is pinned to cores[r % num_cores] */
  int num_cores;           /* 0: not pinned */
} WorkerOptions;

/* Understands `--socket PATH` and `--pin 0,1` at argv[index] and moves index past both words. 1: it did; 0: the option
 * is another one's; -1: the value is missing or malformed (said on stderr). */
int worker_option(int argc, char** argv, int* index, WorkerOptions* options);

/* This process's rank as the launcher says it in the environment (Open MPI, PMI, torchrun), before any library has
 * started; -1 if it does not. */
int worker_environment_rank(void);

/* Pins the calling thread, and so the threads that it will start. 0: done, or there is nothing to pin to. */
int worker_pin(const WorkerOptions* options, int rank);

/* The calling thread's cores, as "0-3,8"; cut off at a whole range if it is longer than `capacity`. Said to the
 * controller, so that a library that undoes the pinning is seen. */
void worker_cores_text(char* text, size_t capacity);

/* Pins, starts the arm, connects, and serves the controller until it quits or hangs up. Returns main()'s exit code. */
int worker_run(const WorkerArm* arm, const WorkerOptions* options, int rank);

/* As worker_run, for a socket that is connected already. */
int worker_serve(const WorkerArm* arm, int socket, int rank, int size);

/* main() of the arms that have no options of their own. */
int worker_main(int argc, char** argv, const WorkerArm* arm);

#ifdef __cplusplus
}
#endif

#endif
