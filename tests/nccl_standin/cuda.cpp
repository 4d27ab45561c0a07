// A stand-in for libcuda.so.1 on host memory; see README.md beside it.
//
// For: tests of NCCL's arms on machines without a GPU. Not for: speed, or collectives (nccl.cpp).

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "standin.h"

// The kernels, one thread after the other.
struct Index {
  unsigned x;
};
static thread_local Index blockIdx, blockDim, threadIdx, gridDim;
#define __global__
static void atomicMin(unsigned long long* at, unsigned long long value) { *at = value < *at ? value : *at; }
static void atomicAdd(unsigned long long* at, unsigned long long value) { *at += value; }
#include "patterns.cu"

static double now_ms() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = 12080, 0; }
int cuDeviceGetCount(int* count) { return *count = atoi(setting("STANDIN_GPUS", "4")), 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int length, int) { return snprintf(name, length, "Stand-in GPU"), 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = size_t{4} << 30, 0; }
int cuGetErrorString(int, const char** text) { return *text = "a stand-in's error", 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = reinterpret_cast<void*>(1), 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return 0; }
int cuMemAlloc_v2(void** address, size_t bytes) { return (*address = malloc(bytes)) == nullptr ? 2 : 0; }
int cuMemFree_v2(void* address) { return free(address), 0; }
int cuMemcpyHtoD_v2(void* to, const void* from, size_t bytes) { return memcpy(to, from, bytes), 0; }
int cuMemcpyDtoH_v2(void* to, const void* from, size_t bytes) { return memcpy(to, from, bytes), 0; }
int cuMemsetD8_v2(void* at, unsigned char value, size_t bytes) { return memset(at, value, bytes), 0; }
int cuMemcpyDtoDAsync_v2(void* to, const void* from, size_t bytes, Stream* stream) {
  return enqueue(stream, [=] { memmove(to, from, bytes); }), 0;
}
int cuStreamCreate(Stream** stream, unsigned) { return *stream = new Stream, 0; }
int cuStreamQuery(Stream*) { return fails("hang") || fails("async") ? 600 : 0; }
int cuStreamSynchronize(Stream*) { return 0; }
int cuStreamBeginCapture_v2(Stream* stream, int) { return stream->captures = true, 0; }
int cuStreamEndCapture(Stream* stream, Graph** graph) {
  stream->captures = false;
  *graph = new Graph(std::move(stream->captured));
  stream->captured = {};
  return 0;
}
int cuGraphInstantiateWithFlags(Graph** ready, Graph* graph, unsigned long long) {
  for (int* held : graph->holds) ++*held;
  return *ready = new Graph(*graph), 0;
}
int cuGraphLaunch(Graph* graph, Stream*) {
  for (const Work& work : graph->works) work();
  return 0;
}
int cuGraphDestroy(Graph* graph) { return delete graph, 0; }
int cuGraphExecDestroy(Graph* graph) {
  for (int* held : graph->holds) --*held;
  return delete graph, 0;
}
int cuEventCreate(double** event, unsigned) { return *event = new double(0), 0; }
int cuEventDestroy_v2(double* event) { return delete event, 0; }
int cuEventRecord(double* event, Stream*) { return *event = now_ms(), 0; }
int cuEventElapsedTime(float* ms, const double* from, const double* to) {
  return *ms = static_cast<float>(*to - *from), 0;
}

int cuModuleLoadData(void** module, const void* text) {
  *module = reinterpret_cast<void*>(1);
  return strstr(static_cast<const char*>(text), ".version") == nullptr ? 218 : 0;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
#define KERNEL(kernel) \
  if (strcmp(name, #kernel) == 0) return *function = reinterpret_cast<void*>(kernel), 0;
  KERNEL(write_1)
  KERNEL(write_2)
  KERNEL(write_4) KERNEL(write_8) KERNEL(check_1) KERNEL(check_2) KERNEL(check_4) KERNEL(check_8) return 500;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned,
                   Stream*, void** arguments, void**) {
  // All widths have one shape: the pointers' types don't matter to the calling convention.
  const bool checks = function == reinterpret_cast<void*>(check_1) || function == reinterpret_cast<void*>(check_2) ||
                      function == reinterpret_cast<void*>(check_4) || function == reinterpret_cast<void*>(check_8);
  auto* memory = *static_cast<void**>(arguments[0]);
  auto* pattern = *static_cast<void**>(arguments[1]);
  const auto length = *static_cast<unsigned long long*>(arguments[2]);
  const auto phase = *static_cast<unsigned*>(arguments[3]), period = *static_cast<unsigned*>(arguments[4]);
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {
      if (checks) {
        auto* found = *static_cast<unsigned long long**>(arguments[5]);
        reinterpret_cast<void (*)(void*, void*, unsigned long long, unsigned, unsigned, unsigned long long*)>(function)(
            memory, pattern, length, phase, period, found);
      } else {
        reinterpret_cast<void (*)(void*, void*, unsigned long long, unsigned, unsigned)>(function)(
            memory, pattern, length, phase, period);
      }
    }
  }
  return 0;
}
}  // extern "C"
