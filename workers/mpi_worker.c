/* One rank of an MPI library, whichever this is compiled against: Open MPI, MPICH, Intel MPI. What it is told is in
 * worker.h; ringtree/arms/worker_building.py compiles it, ringtree/arms/mpi.py starts it. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "worker.h"

/* NULL, or what MPI says of its error code. */
static const char* said(int code) {
  static char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return NULL;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) snprintf(text, sizeof text, "MPI error %d", code);
  return text;
}

static MPI_Datatype type;
static MPI_Op op;
static int my_rank, num_ranks;

static const char* start(int* rank, int* size) {
  int level = 0;
  const char* error = said(MPI_Init(NULL, NULL));
  /* For control(); a library without it says so there. Not before MPI_Init: MPICH 4.0 then dies of a variable's value
   * that it does not know, which it would otherwise name. */
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  if (!error) error = said(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  if (!error) error = said(MPI_Comm_rank(MPI_COMM_WORLD, &my_rank));
  if (!error) error = said(MPI_Comm_size(MPI_COMM_WORLD, &num_ranks));
  *rank = my_rank;
  *size = num_ranks;
  return error;
}

static const char* version(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  return MPI_Get_library_version(text, &length) == MPI_SUCCESS ? text : "MPI of unknown version";
}

static const char* prepare(const char* dtype, const char* name) {
  const struct {
    const char* name;
    MPI_Datatype type;
  } types[] = {{"float32", MPI_FLOAT}, {"float64", MPI_DOUBLE},  {"int8", MPI_INT8_T},   {"uint8", MPI_UINT8_T},
               {"int32", MPI_INT32_T}, {"uint32", MPI_UINT32_T}, {"int64", MPI_INT64_T}, {"uint64", MPI_UINT64_T}};
  const struct {
    const char* name;
    MPI_Op op;
  } ops[] = {{"sum", MPI_SUM},   {"prod", MPI_PROD}, {"min", MPI_MIN},   {"max", MPI_MAX},
             {"band", MPI_BAND}, {"bor", MPI_BOR},   {"bxor", MPI_BXOR}, {"land", MPI_LAND},
             {"lor", MPI_LOR},   {"lxor", MPI_LXOR}, {"none", MPI_SUM}};
  type = MPI_DATATYPE_NULL;
  op = MPI_OP_NULL;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
    if (strcmp(dtype, types[i].name) == 0) type = types[i].type;
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; ++i)
    if (strcmp(name, ops[i].name) == 0) op = ops[i].op;
  return type == MPI_DATATYPE_NULL || op == MPI_OP_NULL ? "unsupported" : NULL;
}

static const char* const kTooMany = "MPI counts elements in an int";
static const char* const kUnsupported = "unsupported";

static const char* all_reduce(const WorkerCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  const void* input = call->in_place ? MPI_IN_PLACE : call->input;
  return said(MPI_Allreduce(input, call->output, (int)call->count, type, op, MPI_COMM_WORLD));
}

static const char* reduce_scatter(const WorkerCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  if (call->in_place) return kUnsupported; /* MPI leaves the result in the first block, not in the own one */
  return said(MPI_Reduce_scatter_block(call->input, call->output, (int)call->count, type, op, MPI_COMM_WORLD));
}

static const char* all_gather(const WorkerCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  const void* input = call->in_place ? MPI_IN_PLACE : call->input;
  return said(MPI_Allgather(input, (int)call->count, type, call->output, (int)call->count, type, MPI_COMM_WORLD));
}

static const char* broadcast(const WorkerCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  return said(MPI_Bcast(call->output, (int)call->count, type, call->root, MPI_COMM_WORLD));
}

static const char* all_to_all(const WorkerCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  if (call->in_place) return kUnsupported;
  return said(MPI_Alltoall(call->input, (int)call->count, type, call->output, (int)call->count, type, MPI_COMM_WORLD));
}

static const char* reduce(const WorkerCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  const void* input = call->in_place && my_rank == call->root ? MPI_IN_PLACE : call->input;
  return said(MPI_Reduce(input, call->output, (int)call->count, type, op, call->root, MPI_COMM_WORLD));
}

static const char* gather(const WorkerCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  const void* input = call->in_place && my_rank == call->root ? MPI_IN_PLACE : call->input;
  return said(
      MPI_Gather(input, (int)call->count, type, call->output, (int)call->count, type, call->root, MPI_COMM_WORLD));
}

static const char* scatter(const WorkerCall* call) {
  if (call->count > INT_MAX) return kTooMany;
  void* output = call->in_place && my_rank == call->root ? MPI_IN_PLACE : call->output;
  return said(
      MPI_Scatter(call->input, (int)call->count, type, output, (int)call->count, type, call->root, MPI_COMM_WORLD));
}

static const char* barrier(void) { return said(MPI_Barrier(MPI_COMM_WORLD)); }

/* By MPI_T, the tool interface: an enumeration by the name of its value, as libraries name their algorithms. */
static const char* control(const char* name, char* value, size_t capacity) {
  static char line[kMaxText];
  int index = 0, verbosity = 0, binding = 0, scope = 0, count = 0, name_length = 0, text_length = 0;
  MPI_Datatype kind;
  MPI_T_enum names = MPI_T_ENUM_NULL;
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) {
    snprintf(line, sizeof line, "this library has no %.200s", name);
    return line;
  }
  if (MPI_T_cvar_get_info(index, NULL, &name_length, &verbosity, &kind, &names, NULL, &text_length, &binding, &scope) !=
          MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
    return kUnsupported;
  union {
    int number;
    unsigned long number_long;
    char text[4096]; /* Open MPI counts 2048 for any text */
  } found = {0};
  const bool is_text = kind == MPI_CHAR;
  const char* error = count > (int)sizeof found ? kUnsupported : said(MPI_T_cvar_read(handle, &found));
  MPI_T_cvar_handle_free(&handle);
  if (error) return error;
  if (is_text) {
    snprintf(value, capacity, "%.*s", (int)sizeof found.text - 1, found.text);
    return NULL;
  }
  snprintf(value, capacity, "%d", found.number);
  int num_items = 0, name_size = 0;
  if (names == MPI_T_ENUM_NULL || MPI_T_enum_get_info(names, &num_items, NULL, &name_size) != MPI_SUCCESS) return NULL;
  for (int item = 0; item < num_items; ++item) {
    char text[kMaxText];
    int number = 0, length = sizeof text;
    if (MPI_T_enum_get_item(names, item, &number, text, &length) == MPI_SUCCESS && number == found.number)
      snprintf(value, capacity, "%d %s", number, text);
  }
  return NULL;
}

static void finish(void) {
  MPI_Finalize();
  MPI_T_finalize();
}

int main(int argc, char** argv) {
  static const WorkerArm arm = {.start = start,
                                .version = version,
                                .collectives = {[kAllReduce] = all_reduce,
                                                [kReduceScatter] = reduce_scatter,
                                                [kAllGather] = all_gather,
                                                [kBroadcast] = broadcast,
                                                [kAllToAll] = all_to_all,
                                                [kReduce] = reduce,
                                                [kGather] = gather,
                                                [kScatter] = scatter},
                                .prepare = prepare,
                                .barrier = barrier,
                                .control = control,
                                .finish = finish};
  return worker_main(argc, argv, &arm);
}
