// A stand-in for libnccl.so.2 on host memory; see README.md beside it.
//
// For: tests of NCCL's arms on machines without a GPU. Not for: speed. Ranks exchange data chunk by chunk through one
// file that they map. Devices and streams are cuda.cpp's.

#include <fcntl.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "standin.h"

// ---- meeting and exchange ----
constexpr int kMaxRanks = 16;
constexpr size_t kChunk = 64 << 10;
struct Shared {
  std::atomic<int> arrived, turn, left;
  struct {
    int num_sends;
    size_t bytes[kMaxRanks];
    int to[kMaxRanks];
  } sends[kMaxRanks];
  char slots[kMaxRanks][kChunk];
};
struct Comm {
  Shared* shared;
  int num_ranks, rank;
  int graphs = 0;  // that can be launched and hold calls of it
};
struct UniqueId {
  char path[128];
};
struct SimInfo {
  size_t size;
  unsigned magic, version;
  float estimated;
};
struct Op {  // one send or receive of a group
  Comm* comm;
  Stream* stream;
  bool sends;
  void* at;
  size_t bytes;
  int peer;
};

static thread_local std::string last_error;
static thread_local int depth = 0;
static thread_local size_t simulated_bytes = 0;  // of the last call in a group, which is not made
static thread_local std::vector<Op> ops;

static void barrier(Comm* comm) {
  const int turn = comm->shared->turn.load();
  if (comm->shared->arrived.fetch_add(1) + 1 == comm->num_ranks) {
    comm->shared->arrived = 0;
    comm->shared->turn = turn + 1;
  } else {
    while (comm->shared->turn.load() == turn) usleep(20);
  }
}

// Every rank shows its source chunk by chunk; `take(offset, length)` reads the slots of all.
static void exchange(Comm* comm, const void* source, size_t bytes, const std::function<void(size_t, size_t)>& take) {
  for (size_t offset = 0; offset < bytes; offset += kChunk) {
    const size_t length = bytes - offset < kChunk ? bytes - offset : kChunk;
    if (source != nullptr) memcpy(comm->shared->slots[comm->rank], static_cast<const char*>(source) + offset, length);
    barrier(comm);
    take(offset, length);
    barrier(comm);
  }
}

// ---- log ----
static void info(const char* subsystem, const char* format, ...) {
  if (strcmp(setting("NCCL_DEBUG", ""), "INFO") != 0) return;
  if (strstr(setting("NCCL_DEBUG_SUBSYS", "INIT,ENV"), subsystem) == nullptr) return;
  static FILE* file = nullptr;
  char host[64];
  gethostname(host, sizeof host);
  if (file == nullptr) {
    std::string path;
    for (const char* at = setting("NCCL_DEBUG_FILE", "/dev/stdout"); *at != '\0'; ++at) {
      if (at[0] == '%' && at[1] == 'h')
        path += host, ++at;
      else if (at[0] == '%' && at[1] == 'p')
        path += std::to_string(getpid()), ++at;
      else
        path += *at;
    }
    file = fopen(path.c_str(), "w");
    setlinebuf(file);
  }
  fprintf(file, "%s:%d:%d [0] NCCL INFO ", host, getpid(), getpid());
  va_list arguments;
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  fputc('\n', file);
}

static const char* const kAlgorithms[] = {"Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
static const char* const kPrinted[] = {"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
static const char* const kProtocols[] = {"LL", "LL128", "Simple"};
static const char* const kPrintedProtocols[] = {"LL", "LL128", "SIMPLE"};

static int chosen(const char* name, const char* const* names, int count, int otherwise) {
  const char* asked = setting(name, "");
  for (int i = 0; i < count; ++i) {
    if (strcasecmp(asked, names[i]) == 0) return i;
  }
  return otherwise;
}

// What runs, and the line that the release writes of it. Returns 5 (invalid usage) where nothing is left.
static int choose(Comm* comm, const char* function, size_t count, size_t item, size_t total) {
  int algorithm = chosen("NCCL_ALGO", kAlgorithms, 7, 1);
  if (algorithm != 1 && strcmp(function, "AllReduce") != 0) {
    if (version() >= 22400) {
      last_error = std::string("No algorithm/protocol available for function ") + function + ". NCCL_ALGO was set to " +
                   setting("NCCL_ALGO", "") + ".";
      return 5;
    }
    algorithm = 1;
  }
  algorithm = chosen("STANDIN_RUNS", kAlgorithms, 7, algorithm);
  const int protocol = chosen("NCCL_PROTO", kProtocols, 3, total <= (64 << 10) ? 0 : 2);
  if (comm->rank != 0) return 0;
  if (version() >= 22400) {
    info("TUNING", "%s: %zu Bytes -> Algo %s proto %s channel{Lo..Hi}={0..%d}", function, count * item,
         kPrinted[algorithm], kPrintedProtocols[protocol], total <= (64 << 10) ? 0 : 3);
  } else if (version() >= 22300) {
    info("TUNING", "%s: %zu Bytes -> Algo %d proto %d time %f", function, total, algorithm, protocol, 12.5);
  } else if (version() >= 22000) {
    info("TUNING", "%zu Bytes -> Algo %d proto %d time %f", total, algorithm, protocol, 12.5);
  }
  return 0;
}

// ---- elements ----
static const size_t kItem[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

template <typename T>
static long double as(const char* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return static_cast<long double>(value);
}
template <typename T>
static void put(char* at, long double value) {
  const T narrow = static_cast<T>(value);
  memcpy(at, &narrow, sizeof narrow);
}
static long double bfloat(const char* at) {
  uint32_t bits = 0;
  memcpy(reinterpret_cast<char*>(&bits) + 2, at, 2);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static void put_bfloat(char* at, long double value) {
  const float single = static_cast<float>(value);  // exact in the tests' data
  memcpy(at, reinterpret_cast<const char*>(&single) + 2, 2);
}
static const struct {
  long double (*get)(const char*);
  void (*put)(char*, long double);
} kTypes[] = {{as<int8_t>, put<int8_t>},     {as<uint8_t>, put<uint8_t>}, {as<int32_t>, put<int32_t>},
              {as<uint32_t>, put<uint32_t>}, {as<int64_t>, put<int64_t>}, {as<uint64_t>, put<uint64_t>},
              {as<_Float16>, put<_Float16>}, {as<float>, put<float>},     {as<double>, put<double>},
              {bfloat, put_bfloat}};

static long double folded(Comm* comm, size_t at, int dtype, int op) {
  long double result = 0;
  for (int rank = 0; rank < comm->num_ranks; ++rank) {
    const long double value = kTypes[dtype].get(comm->shared->slots[rank] + at);
    if (rank == 0)
      result = value;
    else if (op == 1)
      result *= value;
    else if (op == 2)
      result = value > result ? value : result;
    else if (op == 3)
      result = value < result ? value : result;
    else
      result += value;
  }
  return op == 4 ? result / comm->num_ranks : result;
}

static void spoil(void* at, size_t bytes) {
  if (fails("wrong") && bytes > 0) static_cast<char*>(at)[0] ^= 1;
}

static void run_group() {
  Comm* comm = ops.front().comm;
  auto& mine = comm->shared->sends[comm->rank];
  mine.num_sends = 0;
  std::vector<Op> sends, receives;
  for (const Op& op : ops) (op.sends ? sends : receives).push_back(op);
  for (const Op& op : sends) mine.bytes[mine.num_sends] = op.bytes, mine.to[mine.num_sends++] = op.peer;
  barrier(comm);
  for (int from = 0; from < comm->num_ranks; ++from) {
    for (int i = 0; i < comm->shared->sends[from].num_sends; ++i) {
      const void* source = from == comm->rank ? sends[i].at : nullptr;
      char* target = nullptr;
      if (comm->shared->sends[from].to[i] == comm->rank) {
        for (const Op& op : receives) {
          if (op.peer == from) target = static_cast<char*>(op.at);
        }
      }
      exchange(comm, source, comm->shared->sends[from].bytes[i], [&](size_t offset, size_t length) {
        if (target != nullptr) memmove(target + offset, comm->shared->slots[from], length);
      });
    }
  }
  for (const Op& op : receives) spoil(op.at, op.bytes);
}

extern "C" {
const char* ncclGetErrorString(int code) { return code == 5 ? "invalid usage" : "unhandled system error"; }
const char* ncclGetLastError(Comm*) { return last_error.c_str(); }
int ncclGetVersion(int* number) { return *number = version(), 0; }

int ncclGetUniqueId(UniqueId* id) {
  strcpy(id->path, "/dev/shm/nccl-standin-XXXXXX");
  const int file = mkstemp(id->path);
  const int failed = file < 0 ? 1 : ftruncate(file, sizeof(Shared));
  close(file);
  return failed != 0 ? 2 : 0;
}

int ncclCommInitRank(Comm** made, int num_ranks, UniqueId id, int rank) {
  if (fails("init")) {
    last_error = "Failed to open the stand-in's network";
    return 2;
  }
  const int file = open(id.path, O_RDWR);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return 2;
  *made = new Comm{static_cast<Shared*>(memory), num_ranks, rank};
  barrier(*made);
  if (rank == 0) unlink(id.path);
  const int v = version();
  if (rank == 0) info("INIT", "NCCL version %d.%d.%d+cuda12.4", v / 10000, v / 100 % 100, v % 100);
  info("INIT", "ncclCommInitRank comm %p rank %d nranks %d cudaDev %d busId %x commId 0x5 - Init COMPLETE",
       static_cast<void*>(*made), rank, num_ranks, rank, rank);
  return 0;
}
int ncclCommDestroy(Comm* comm) {
  if (comm->graphs > 0) {  // NCCL would wait for their end, and for ever
    last_error = "a captured graph still holds the communicator";
    return 5;
  }
  munmap(comm->shared, sizeof(Shared));
  return delete comm, 0;
}
int ncclCommAbort(Comm*) { return 0; }
int ncclCommGetAsyncError(Comm*, int* error) {
  *error = fails("async") ? 6 : 0;
  if (*error != 0) last_error = "a remote process exited";
  return 0;
}
int ncclMemAlloc(void** address, size_t bytes) { return (*address = malloc(bytes)) == nullptr ? 1 : 0; }
int ncclMemFree(void* address) { return free(address), 0; }
int ncclCommRegister(Comm*, void* at, size_t, void** handle) { return *handle = at, 0; }
int ncclCommDeregister(Comm*, void*) { return 0; }
int ncclCommWindowRegister(Comm* comm, void* at, size_t, void** handle, int) {
  barrier(comm);  // every rank registers alike
  return *handle = at, 0;
}
int ncclCommWindowDeregister(Comm*, void*) { return 0; }
int ncclRedOpCreatePreMulSum(int* op, const void*, int, int, Comm*) { return *op = 5, 4; }

int ncclGroupStart() { return ++depth, 0; }
static int end_group() {
  if (--depth > 0 || ops.empty()) return 0;
  std::vector<Op> all;
  all.swap(ops);
  enqueue(
      all.front().stream,
      [all] {
        ops = all;
        run_group();
        ops.clear();
      },
      &all.front().comm->graphs);
  return 0;
}
int ncclGroupEnd() { return end_group(); }
int ncclGroupSimulateEnd(SimInfo* info) {
  if (info->magic != 0x74685283 || info->size != sizeof(SimInfo)) return 4;
  ops.clear();
  --depth;
  info->estimated = 10.0F + static_cast<float>(simulated_bytes) / 1024;  // a microsecond a KB
  return 0;
}

#define COLLECTIVE_HEAD(function, total)                                  \
  const size_t item = kItem[dtype];                                       \
  if (depth > 0) return simulated_bytes = (total) * item, 0;              \
  const int failed = choose(comm, function, count, item, (total) * item); \
  if (failed != 0) return failed;

int ncclAllReduce(const void* send, void* receive, size_t count, int dtype, int op, Comm* comm, Stream* stream) {
  COLLECTIVE_HEAD("AllReduce", count)
  enqueue(
      stream,
      [=] {
        exchange(comm, send, count * item, [&](size_t offset, size_t length) {
          for (size_t at = 0; at < length; at += item) {
            kTypes[dtype].put(static_cast<char*>(receive) + offset + at, folded(comm, at, dtype, op));
          }
        });
        spoil(receive, count);
      },
      &comm->graphs);
  return 0;
}
int ncclReduce(const void* send, void* receive, size_t count, int dtype, int op, int root, Comm* comm, Stream* stream) {
  COLLECTIVE_HEAD("Reduce", count)
  enqueue(
      stream,
      [=] {
        exchange(comm, send, count * item, [&](size_t offset, size_t length) {
          for (size_t at = 0; comm->rank == root && at < length; at += item) {
            kTypes[dtype].put(static_cast<char*>(receive) + offset + at, folded(comm, at, dtype, op));
          }
        });
      },
      &comm->graphs);
  return 0;
}
int ncclReduceScatter(const void* send, void* receive, size_t count, int dtype, int op, Comm* comm, Stream* stream) {
  COLLECTIVE_HEAD("ReduceScatter", count * comm->num_ranks)
  enqueue(
      stream,
      [=] {
        for (int block = 0; block < comm->num_ranks; ++block) {
          const char* from = static_cast<const char*>(send) + block * count * item;
          exchange(comm, from, count * item, [&](size_t offset, size_t length) {
            for (size_t at = 0; comm->rank == block && at < length; at += item) {
              kTypes[dtype].put(static_cast<char*>(receive) + offset + at, folded(comm, at, dtype, op));
            }
          });
        }
      },
      &comm->graphs);
  return 0;
}
int ncclBroadcast(const void* send, void* receive, size_t count, int dtype, int root, Comm* comm, Stream* stream) {
  COLLECTIVE_HEAD("Broadcast", count)
  enqueue(
      stream,
      [=] {
        exchange(comm, comm->rank == root ? send : nullptr, count * item, [&](size_t offset, size_t length) {
          memcpy(static_cast<char*>(receive) + offset, comm->shared->slots[root], length);
        });
      },
      &comm->graphs);
  return 0;
}
int ncclAllGather(const void* send, void* receive, size_t count, int dtype, Comm* comm, Stream* stream) {
  COLLECTIVE_HEAD("AllGather", count * comm->num_ranks)
  enqueue(
      stream,
      [=] {
        exchange(comm, send, count * item, [&](size_t offset, size_t length) {
          for (int rank = 0; rank < comm->num_ranks; ++rank) {
            memcpy(static_cast<char*>(receive) + rank * count * item + offset, comm->shared->slots[rank], length);
          }
        });
        spoil(receive, count);
      },
      &comm->graphs);
  return 0;
}
static int add(bool sends, void* at, size_t count, int dtype, int peer, Comm* comm, Stream* stream) {
  ++depth;
  ops.push_back({comm, stream, sends, at, count * kItem[dtype], peer});
  return end_group();
}
int ncclSend(const void* from, size_t count, int dtype, int peer, Comm* comm, Stream* stream) {
  return add(true, const_cast<void*>(from), count, dtype, peer, comm, stream);
}
int ncclRecv(void* to, size_t count, int dtype, int peer, Comm* comm, Stream* stream) {
  return add(false, to, count, dtype, peer, comm, stream);
}
}  // extern "C"
