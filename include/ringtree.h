/* ringtree's C API: collective communication between ranks of one host, over shared memory, and of several, over TCP.
 * Shaped like nccl.h, so that who knows NCCL knows most of this; docs/c-api.md tells what differs and shows programs.
 *
 * For: C, C++ and whatever can call C, as a library of its own (-lringtree). Not for: measuring, comparing or proving
 * algorithms, which is the Python package's.
 *
 *     rtUniqueId id;                          one rank makes it and passes it to all by any means
 *     rtComm_t comm;
 *     rtGetUniqueId(&id);
 *     rtCommInitRank(&comm, num_ranks, id, rank);
 *     rtAllReduce(input, output, count, rtFloat32, rtSum, comm);
 *     rtCommDestroy(comm);
 *
 * There is no stream: a call returns when this rank's part is done and its buffers may be used; calls between
 * rtGroupStart() and rtGroupEnd() run together at its end, or in the background after rtGroupEndAsync().
 *
 * RESULTS. Every function returns rtSuccess or says what went wrong; rtGetLastError() has the text, which names rank,
 * pid, collective and sequence number. After rtRemoteError, rtTimeout, rtMismatch or rtSystemError from a call the
 * communicator is unusable, on all ranks, and each later call says so again; rtCommShrink() makes a new one of who is
 * left. After rtInvalidArgument and rtInvalidUsage nothing has happened.
 *
 * THREADS. Each function says which threads may call it, in these words:
 *     any thread       at any time, also while another thread is in a call with the same communicator
 *     one at a time    one thread at a time for each communicator; different communicators do not matter
 *     this thread's    it concerns the calling thread alone
 * Ranks may be processes or threads of one process. After fork() a child uses no communicator of its parent.
 *
 * BUFFERS. `count` is in elements of `datatype`. Any alignment will do. A buffer of which this rank has no data (the
 * output of a reduce on all ranks but the root, anything of 0 elements) may be NULL. Input and output are different
 * memory or in place, element by element at the same address; "in place" below says what that means for each
 * collective. All ranks call the same collectives of a communicator in the same order, with the same count, datatype,
 * op and root.
 */
#ifndef RINGTREE_H
#define RINGTREE_H

#include <stddef.h>

#define RT_MAJOR 0
#define RT_MINOR 1
#define RT_PATCH 0
#define RT_VERSION(major, minor, patch) ((major) * 10000 + (minor) * 100 + (patch))
#define RT_VERSION_CODE RT_VERSION(RT_MAJOR, RT_MINOR, RT_PATCH)

#if defined(__GNUC__)
#define RT_API __attribute__((visibility("default")))
#else
#define RT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ------------------------------------------------------------------------------------------------------ */

/* The numbers below are part of the ABI: they are never changed or used again. Up to 7 they are NCCL's. */
typedef enum {
  rtSuccess = 0,
  rtSystemError = 2,     /* the machine or another rank could not: no memory, no descriptors, rtCommAbort() */
  rtInternalError = 3,   /* a bug in ringtree */
  rtInvalidArgument = 4, /* an argument that can't be right by itself: a NULL, an unknown datatype, a rank beyond all */
  rtInvalidUsage = 5,    /* a call that can't be made so, or not now; the text says what to do */
  rtRemoteError = 6,     /* another rank died or left while it was needed */
  rtInProgress = 7,      /* not done yet; only from rtWait() */
  rtTimeout = 8,         /* a deadline passed; the text says which rank has not come how far */
  rtMismatch = 9,        /* the ranks are in different calls; the text says who said what */
  rtMaxResult = 0x7fffffff
} rtResult_t;

/* Element types, named as in PyTorch. float16, bfloat16 and float8 are added in float32 and rounded at each hop. */
typedef enum {
  rtBool = 0, /* one byte; any non-zero one is true */
  rtInt8 = 1,
  rtUint8 = 2,
  rtInt16 = 3,
  rtUint16 = 4,
  rtInt32 = 5,
  rtUint32 = 6,
  rtInt64 = 7,
  rtUint64 = 8,
  rtFloat16 = 9,
  rtBfloat16 = 10,
  rtFloat32 = 11,
  rtFloat64 = 12,
  rtComplex32 = 13, /* two float16, real part first; the next two: of float32 and of float64 */
  rtComplex64 = 14,
  rtComplex128 = 15,
  rtFloat8E4m3fn = 16,
  rtFloat8E5m2 = 17,
  rtFloat8E4m3fnuz = 18,
  rtFloat8E5m2fnuz = 19,
  rtFloat8E8m0fnu = 20,      /* moved, never reduced */
  rtMaxDataType = 0x7fffffff /* so that the type is as wide as an int for every compiler */
} rtDataType_t;

/* What reductions compute. Not every op is defined for every datatype: rtInvalidUsage says which is not.
 * rtRedOpCreatePreMulSum() makes further values. */
typedef enum {
  rtSum = 0, /* integers wrap */
  rtProd = 1,
  rtMin = 2, /* NaN wins over numbers, as it does in rtMax */
  rtMax = 3,
  rtAvg = 4,
  rtBand = 6, /* bits of integers and bools: and, or, exclusive or */
  rtBor = 7,
  rtBxor = 8,
  rtLand = 9, /* truth, what is not zero: and, or, exclusive or; the result is 1 or 0 */
  rtLor = 10,
  rtLxor = 11,
  rtMaxRedOp = 0x7fffffff
} rtRedOp_t;

/* One rank's end of a group of ranks. The library never uses a handle again: after rtCommDestroy() every function
 * answers it with rtInvalidArgument. */
typedef struct rtComm* rtComm_t;

/* Calls in the background, started by rtGroupEndAsync(). */
typedef struct rtRequest* rtRequest_t;

#define RT_UNIQUE_ID_BYTES 128
/* Which communicator: a text that says where the ranks meet, to be passed to all of them as these bytes. */
typedef struct {
  char internal[RT_UNIQUE_ID_BYTES];
} rtUniqueId;

/* What a communicator is made with. Start from RT_CONFIG_INITIALIZER; a field that is 0 or NULL has its default. */
typedef struct {
  size_t size;             /* of this struct, for newer libraries; RT_CONFIG_INITIALIZER sets it */
  double timeout_s;        /* of meeting and of each call, in seconds; 300. Each rank's own */
  size_t memory_cap_bytes; /* of the shared memory of this rank's links; 256 MB. Each rank's own */
  int num_channels;        /* copies of a schedule, each working on its part of the data; 1. Alike on all ranks */
  int shared_buffers;      /* not 0: algorithms are chosen for buffers of rtMemAlloc(). Alike on all ranks */
  int deterministic;       /* not 0: the same inputs give the same bits, whatever else is chosen. Alike on all ranks */
  const char* rules_path;  /* a file with the rules of a measured profile (docs/c-api.md), by which algorithms are
                              chosen; without one the cost model chooses. Read by rank 0 alone, for all ranks */
  /* Asked now and then, in the calling thread, while a call waits: not 0 ends the communicator with rtSystemError and a
   * text that says so (on other ranks rtRemoteError). Not asked while ranks are met, in rtWait(), nor for messages and
   * calls in the background. Each rank's own */
  int (*interrupted)(void);
  /* not 0: in calls in place, peers write sums into this rank's buffers of rtMemAlloc() themselves (docs/engine.md).
   * The buffer of a call that failed is shared with nobody any more. Each rank's own */
  int answers_in_place;
  int reserved; /* 0 */
} rtConfig_t;
#define RT_CONFIG_INITIALIZER {sizeof(rtConfig_t), 0, 0, 0, 0, 0, NULL, NULL, 0, 0}

/* ---- The library ------------------------------------------------------------------------------------------------ */

/* The version of the library that runs, as RT_VERSION() makes it; RT_VERSION_CODE is that of this header.
 * Any thread. */
RT_API rtResult_t rtGetVersion(int* version);

/* What a result means, in a few words, for every number. The text lives for ever. Any thread. */
RT_API const char* rtGetErrorString(rtResult_t result);

/* Why a call failed. comm NULL: the newest failure of any function in this thread. Otherwise what ended the
 * communicator or, as long as nothing has, the newest failure of a call with it. "" if there was none. The text lives
 * until this thread's next rt call. Any thread. */
RT_API const char* rtGetLastError(rtComm_t comm);

/* Memory that the other ranks can map: what is sent from there need not be copied (docs/engine.md says when that is
 * worth it). Zeroed, aligned to pages. Any thread.
 * Errors: rtSystemError (there is not so much). */
RT_API rtResult_t rtMemAlloc(void** ptr, size_t size);

/* Gives such memory back. No call may be using it. NULL is allowed. Any thread.
 * Errors: rtInvalidArgument (not from rtMemAlloc()). */
RT_API rtResult_t rtMemFree(void* ptr);

/* ---- Communicators ---------------------------------------------------------------------------------------------- */

/* A new id. One rank makes it, all ranks of one communicator pass it to rtCommInitRank(). It serves for one
 * communicator only. Any thread.
 * Where RINGTREE_IFNAME is set, or MASTER_ADDR and a secret, ranks of other hosts may come (docs/c-api.md): then rank 0
 * makes it, or the process that forks rank 0. It opens the port that the id names, and holds it until rank 0's
 * rtCommInitRank(), its own end, or until 64 newer ids wait for theirs.
 * Errors: rtInvalidUsage (the environment says what cannot be, or there is no secret), rtSystemError. */
RT_API rtResult_t rtGetUniqueId(rtUniqueId* id);

/* Makes a communicator of `nranks` ranks, of which this is `rank` (from 0), all processes or threads of this user, on
 * this host or where the id lets them. Returns when all have come. Not within a group. Any thread.
 * Errors: rtTimeout (not all came), rtMismatch (different settings), rtRemoteError (a rank ended meanwhile),
 * rtInvalidUsage (the id is in use, or of another host's ranks; no secret), rtSystemError. *comm is then NULL. */
RT_API rtResult_t rtCommInitRank(rtComm_t* comm, int nranks, rtUniqueId id, int rank);

/* The same with settings; config NULL: the defaults. */
RT_API rtResult_t rtCommInitRankConfig(rtComm_t* comm, int nranks, rtUniqueId id, int rank, const rtConfig_t* config);

/* Leaves, once the calls that this rank has started are done. Later calls get rtInvalidUsage, rtCommDestroy() is still
 * to come. Other ranks do not wait for it: who needs this rank any more gets rtRemoteError. Not within a group. One at
 * a time. */
RT_API rtResult_t rtCommFinalize(rtComm_t comm);

/* Leaves, as rtCommFinalize(), and frees. NULL is allowed. Not within a group, nor while another thread is in a call
 * with it: that is for rtCommAbort() to end. Communicators that were split off live on. One at a time. */
RT_API rtResult_t rtCommDestroy(rtComm_t comm);

/* Ends the communicator on all ranks: calls under way and later ones fail with rtSystemError and a text that holds
 * `reason` (NULL: none given). Frees nothing: rtCommDestroy() is still to come. Any thread. */
RT_API rtResult_t rtCommAbort(rtComm_t comm, const char* reason);

#define RT_SPLIT_NOCOLOR (-1)
/* Makes communicators of parts of this one, with its settings: ranks of the same `color` form one, in the order of
 * `key`, then of rank. *part is NULL where color is RT_SPLIT_NOCOLOR. Called by all ranks, which meet through rank 0 of
 * rtCommInitRank(): as long as anything is to be split it keeps one of the communicators that come from there, also
 * when its own call has returned and those of other parts have not. Not within a group. One at a time. Errors as
 * rtCommInitRank() and any call. */
RT_API rtResult_t rtCommSplit(rtComm_t comm, int color, int key, rtComm_t* part);

/* After a failure: a new communicator of the ranks that are still there, in the order of ranks. Called by all of them;
 * who has died or destroyed its communicator is left out. The old one is still to be destroyed. Not within a group. One
 * at a time. Errors as rtCommInitRank(). */
RT_API rtResult_t rtCommShrink(rtComm_t comm, rtComm_t* survivors);

/* From now on each call or message of this rank has so many seconds; 0: as many as rtConfig_t said. What is under way
 * keeps its own, and parts that are made later begin with the same. One at a time.
 * Errors: rtInvalidArgument (below 0, or beyond 1e9). */
RT_API rtResult_t rtCommSetTimeout(rtComm_t comm, double timeout_s);

/* How many ranks it has, and which this is. Any thread. */
RT_API rtResult_t rtCommCount(rtComm_t comm, int* count);
RT_API rtResult_t rtCommUserRank(rtComm_t comm, int* rank);

/* What has become of the communicator, without waiting: rtSuccess, or what ended it, be it found here or told by
 * another rank. Any thread. */
RT_API rtResult_t rtCommGetAsyncError(rtComm_t comm, rtResult_t* async_error);

/* An op that sums what each rank's input is multiplied by: that rank's own `factor`, rounded to the datatype (integers:
 * a whole number within its range). For reductions of this communicator. One at a time. */
RT_API rtResult_t rtRedOpCreatePreMulSum(rtRedOp_t* op, double factor, rtComm_t comm);

/* Forgets such an op; its number may be given out again. Calls under way are not affected. One at a time. */
RT_API rtResult_t rtRedOpDestroy(rtRedOp_t op, rtComm_t comm);

/* ---- Collectives: one at a time; within a group they are gathered ------------------------------------------------ */

/* Combines the inputs of all ranks element by element; every rank gets the result, bit for bit the same.
 * input, output: count elements. In place: input == output. */
RT_API rtResult_t rtAllReduce(const void* input, void* output, size_t count, rtDataType_t datatype, rtRedOp_t op,
                              rtComm_t comm);

/* The same, for the root alone. output: on the root only. */
RT_API rtResult_t rtReduce(const void* input, void* output, size_t count, rtDataType_t datatype, rtRedOp_t op, int root,
                           rtComm_t comm);

/* Copies the root's input to everybody's output, also its own. input: on the root only. In place: input == output on
 * the root. */
RT_API rtResult_t rtBroadcast(const void* input, void* output, size_t count, rtDataType_t datatype, int root,
                              rtComm_t comm);

/* Combines inputs of nranks blocks of `count` elements; rank r gets block r. In place: output is the own block of
 * input. */
RT_API rtResult_t rtReduceScatter(const void* input, void* output, size_t count, rtDataType_t datatype, rtRedOp_t op,
                                  rtComm_t comm);

/* Puts everybody's `count` elements side by side, in the order of ranks, on all ranks. In place: input is the own block
 * of output. */
RT_API rtResult_t rtAllGather(const void* input, void* output, size_t count, rtDataType_t datatype, rtComm_t comm);

/* The same, for the root alone. output: on the root only. */
RT_API rtResult_t rtGather(const void* input, void* output, size_t count, rtDataType_t datatype, int root,
                           rtComm_t comm);

/* Deals out the root's nranks blocks of `count` elements: rank r gets block r. input: on the root only. In place:
 * output is the own block of input. */
RT_API rtResult_t rtScatter(const void* input, void* output, size_t count, rtDataType_t datatype, int root,
                            rtComm_t comm);

/* Rank r's block s of `count` elements becomes rank s's block r. Never in place. */
RT_API rtResult_t rtAlltoAll(const void* input, void* output, size_t count, rtDataType_t datatype, rtComm_t comm);

/* Returns when all ranks have called it. */
RT_API rtResult_t rtBarrier(rtComm_t comm);

/* Blocks of unequal length, side by side, without gaps: counts[r] is the length of rank r's block, alike on all ranks.
 * The array may be changed when the function has returned, also within a group. */
RT_API rtResult_t rtReduceScatterV(const void* input, void* output, const size_t* counts, rtDataType_t datatype,
                                   rtRedOp_t op, rtComm_t comm);
RT_API rtResult_t rtAllGatherV(const void* input, void* output, const size_t* counts, rtDataType_t datatype,
                               rtComm_t comm);
RT_API rtResult_t rtGatherV(const void* input, void* output, const size_t* counts, rtDataType_t datatype, int root,
                            rtComm_t comm);
RT_API rtResult_t rtScatterV(const void* input, void* output, const size_t* counts, rtDataType_t datatype, int root,
                             rtComm_t comm);
/* input_counts[r]: of the block for rank r; output_counts[r]: of the one that comes from it. */
RT_API rtResult_t rtAlltoAllV(const void* input, const size_t* input_counts, void* output, const size_t* output_counts,
                              rtDataType_t datatype, rtComm_t comm);

/* ---- Transfers: one at a time; within a group they are gathered -------------------------------------------------- */

/* Sends `count` elements to rank `peer`, which receives as many of the same datatype. Transfers of one direction meet
 * in the order of calls. A send may return before it is received, but only if it is small: ranks that send to each
 * other do so within a group. */
RT_API rtResult_t rtSend(const void* input, size_t count, rtDataType_t datatype, int peer, rtComm_t comm);
RT_API rtResult_t rtRecv(void* output, size_t count, rtDataType_t datatype, int peer, rtComm_t comm);

/* ---- Messages: any thread, not within a group -------------------------------------------------------------------- */

/* As the peer of rtPostRecv(): whichever rank sends first. */
#define RT_ANY_SOURCE (-1)

/* Told once how a message ended, on a thread of the communicator: rtSuccess, or any result of a call. `source`: the
 * rank that sent it; of a receive that failed, the peer that was asked for. `error`: what went wrong, "" if nothing; it
 * lives during the call. It may post again. It should be quick, as other messages wait for it, and must not end that
 * communicator by rtCommFinalize() or rtCommDestroy() (rtInvalidUsage). */
typedef void (*rtMessageDone_t)(void* context, rtResult_t result, int source, const char* error);

/* Post one end of a message of `size` bytes with a tag (any number) and return at once. The buffer must live, and what
 * is sent must stay as it is, until `done` is told; a send is done when its bytes have left the buffer, which does not
 * mean that they were received. The rank itself is allowed as a peer.
 * Which send meets which receive: messages of one rank come in the order of posting, and each is for the receive that
 * was posted first of those with its tag, from that rank or from any. One that comes while a receive waits for another
 * tag is kept, in memory of this rank, for a receive that is posted later.
 * `size` must be alike at both ends, else the communicator ends with rtMismatch; it ends with rtTimeout if a message is
 * not done `timeout_s` seconds (0: the communicator's) after it was posted, and with rtRemoteError if a rank that it
 * needs has died or left. Then all open messages and all later ones are told that.
 * A communicator that has had a message makes no calls any more, and one that is in a call, or has calls in the
 * background, takes no message (rtInvalidUsage): make two. rtCommFinalize() and rtCommDestroy() bring sends to their
 * end; receives that are open are told rtInvalidUsage.
 * Errors: rtInvalidArgument, rtInvalidUsage, rtSystemError (no thread can be started); `done` is then not told. */
RT_API rtResult_t rtPostSend(const void* input, size_t size, int peer, int tag, double timeout_s, rtMessageDone_t done,
                             void* context, rtComm_t comm);
RT_API rtResult_t rtPostRecv(void* output, size_t size, int peer, int tag, double timeout_s, rtMessageDone_t done,
                             void* context, rtComm_t comm);

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

/* Opens a group: this thread's collectives and transfers are gathered from now on, checked for what can be told of them
 * alone, and run at the end. Groups may be nested; the outermost counts. This thread's. */
RT_API rtResult_t rtGroupStart(void);

/* Ends it. At the end of the outermost all that was gathered runs, and is done when the function returns: each
 * communicator at the same time as the others; of one communicator all transfers first, at once, then its collectives
 * in the order of calls. All run, also where one fails; the result is that of the first that failed. If a call within
 * the group was refused, nothing runs, and the result is that call's. This thread's.
 * Errors: rtInvalidUsage (no group is open), any error of a call. */
RT_API rtResult_t rtGroupEnd(void);

/* Ends the outermost group, but runs it in the background; buffers must not be touched until the request is done. One
 * thread a communicator runs what was started, in order; a later call without a group waits for it. *request is NULL on
 * errors. This thread's.
 * Errors: rtInvalidUsage (no group is open, or an inner one), a refused call's. What calls fail with is told when the
 * request is done. */
RT_API rtResult_t rtGroupEndAsync(rtRequest_t* request);

/* Waits until a request is done, for `timeout_s` seconds at most (0: as long as it takes), frees it, sets it to NULL
 * and returns what rtGroupEnd() would have. rtInProgress: not done in time; it goes on and the request stays valid.
 * *request may be NULL: that is done. Any thread, one at a time for each request. */
RT_API rtResult_t rtWait(rtRequest_t* request, double timeout_s);

/* The same without waiting: *done is 1 if it is done, else 0 and the result is rtSuccess. Any thread, one at a time for
 * each request. */
RT_API rtResult_t rtTest(rtRequest_t* request, int* done);

#ifdef __cplusplus
}
#endif

#endif /* RINGTREE_H */
