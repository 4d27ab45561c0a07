// How fast the fold kernels are, per dtype, instruction set and aliasing: GB/s of input and output bytes together, what
// that is of float32's rate by the same table, and ns a call. A tool for whoever changes core/reduce; not a test, and
// not the project's benchmark (that is `ringtree compare`).
//
// Usage: bench_reduce [size_bytes=65536] [num_inputs=2] [dtype...]
// Every figure is the best of 31 repetitions: what disturbs a repetition only slows it down. Buffers start at a line,
// and none is a multiple of 4 KiB from another, or stores would seem to meet the loads.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/reduce/kernel_table.h"

namespace ringtree {
namespace {

constexpr int kRepetitions = 31;
constexpr int64_t kRepetition_ns = 1'000'000;
constexpr size_t kPage = 4096;
constexpr size_t kLine = 64;
constexpr size_t kStagger = 5 * kLine;

// Zeros, so that nothing overflows or becomes subnormal however often it is folded in place.
struct Buffers {
  Buffers(size_t size_bytes, int num_inputs) {
    const size_t stride = (size_bytes + kPage - 1) / kPage * kPage + kStagger;
    memory_.resize(static_cast<size_t>(num_inputs + 1) * stride + kLine, 0);
    unsigned char* start = memory_.data() + (kLine - reinterpret_cast<uintptr_t>(memory_.data()) % kLine);
    for (int k = 0; k <= num_inputs; ++k) all.push_back(start + static_cast<size_t>(k) * stride);
    in.assign(all.begin() + 1, all.end());
  }
  std::vector<unsigned char*> all;  // the output, then the inputs
  std::vector<const void*> in;

 private:
  std::vector<unsigned char> memory_;
};

// Nanoseconds a call.
double measure(FoldKernel kernel, void* out, const std::vector<const void*>& in, size_t count) {
  int64_t calls = 1;
  double best_ns = 1e18;
  for (int repetition = 0; repetition < kRepetitions;) {
    const int64_t start_ns = now_ns();
    for (int64_t call = 0; call < calls; ++call) kernel(out, in.data(), static_cast<int>(in.size()), count);
    const int64_t took_ns = now_ns() - start_ns;
    if (took_ns < kRepetition_ns) {
      calls *= 2;
      continue;
    }
    best_ns = std::min(best_ns, static_cast<double>(took_ns) / static_cast<double>(calls));
    ++repetition;
  }
  return best_ns;
}

void run(size_t size_bytes, int num_inputs, const std::vector<Dtype>& dtypes) {
  const Buffers buffers(size_bytes, num_inputs);
  std::printf("%d inputs of %zu bytes; GB/s read and written, (of float32), ns a call; best of %d\n", num_inputs,
              size_bytes, kRepetitions);
  std::printf("%-16s %-9s %-5s %26s %28s\n", "dtype", "table", "op", "out of place", "in place");
  std::map<std::string, double> float32_ns;  // by table, op and aliasing
  for (Dtype dtype : dtypes) {
    for (const KernelTable* table : supported_kernel_tables()) {
      for (ReduceOp op : {ReduceOp::sum, ReduceOp::max}) {
        const FoldKernel kernel = table->fold[static_cast<int>(dtype)][static_cast<int>(op)];
        const FoldKernel float32 = table->fold[static_cast<int>(Dtype::kFloat32)][static_cast<int>(op)];
        if (kernel == nullptr) continue;
        std::printf("%-16s %-9s %-5s", dtype_name(dtype), table->name, reduce_op_name(op));
        for (const size_t out : {0, 1}) {
          const double ns = measure(kernel, buffers.all[out], buffers.in, size_bytes / item_size(dtype));
          double& reference_ns = float32_ns[table->name + (reduce_op_name(op) + std::to_string(out))];
          if (reference_ns == 0) reference_ns = measure(float32, buffers.all[out], buffers.in, size_bytes / 4);
          const double bytes = static_cast<double>(num_inputs + 1) * static_cast<double>(size_bytes);
          std::printf(" %9.1f (%4.2f) %9.1f", bytes / ns, reference_ns / ns, ns);
        }
        std::printf("\n");
      }
    }
  }
}

}  // namespace
}  // namespace ringtree

int main(int argc, char** argv) {
  const long long size_bytes = argc > 1 ? std::atoll(argv[1]) : 65536;
  const int num_inputs = argc > 2 ? std::atoi(argv[2]) : 2;
  std::vector<ringtree::Dtype> dtypes;
  for (ringtree::Dtype dtype : ringtree::kDtypes)
    if (argc <= 3 || std::find(argv + 3, argv + argc, std::string(ringtree::dtype_name(dtype))) != argv + argc)
      dtypes.push_back(dtype);
  if (size_bytes < 1 || num_inputs < 2 || dtypes.empty()) {
    std::fprintf(stderr, "usage: bench_reduce [size_bytes] [num_inputs, at least 2] [dtype...]\n");
    return 2;
  }
  ringtree::run(static_cast<size_t>(size_bytes), num_inputs, dtypes);
  return 0;
}
