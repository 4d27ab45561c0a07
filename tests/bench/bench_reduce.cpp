// How fast the fold kernels are: GB/s of input and output bytes together, per dtype, instruction set and aliasing, for
// two inputs. A tool for whoever changes core/reduce; not a test, and not the project's benchmark (that is `ringtree
// compare`). Usage: bench_reduce [size_bytes=65536]. Prints the median of 31 repetitions and the fastest.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/base/clock.h"
#include "core/reduce/kernel_table.h"

namespace ringtree {
namespace {

constexpr int kRepetitions = 31;
constexpr int64_t kRepetition_ns = 2'000'000;

struct Rate {
  double median_GBps;
  double best_GBps;
};

// Bytes moved are two inputs read and one output written, whether or not the output is an input.
Rate measure(FoldKernel kernel, void* out, const void* const* in, size_t size_bytes, size_t count) {
  int64_t calls = 1;
  std::vector<double> rates;
  while (rates.size() < kRepetitions) {
    const int64_t start_ns = now_ns();
    for (int64_t call = 0; call < calls; ++call) kernel(out, in, 2, count);
    const int64_t took_ns = now_ns() - start_ns;
    if (took_ns < kRepetition_ns) {
      calls *= 2;
      continue;
    }
    rates.push_back(3.0 * static_cast<double>(size_bytes) * static_cast<double>(calls) / static_cast<double>(took_ns));
  }
  std::sort(rates.begin(), rates.end());
  return {rates[kRepetitions / 2], rates.back()};
}

void run(size_t size_bytes) {
  std::vector<unsigned char> left(size_bytes, 0), right(size_bytes, 0), out(size_bytes, 0);
  const void* in[] = {left.data(), right.data()};
  std::printf("two inputs of %zu bytes; GB/s read and written: median (best)\n", size_bytes);
  std::printf("%-16s %-9s %-5s %18s %18s\n", "dtype", "table", "op", "out of place", "in place");
  for (Dtype dtype : kDtypes) {
    for (const KernelTable* table : supported_kernel_tables()) {
      for (ReduceOp op : {ReduceOp::sum, ReduceOp::max}) {
        const FoldKernel kernel = table->fold[static_cast<int>(dtype)][static_cast<int>(op)];
        if (kernel == nullptr) continue;
        const size_t count = size_bytes / item_size(dtype);
        const Rate apart = measure(kernel, out.data(), in, size_bytes, count);
        const Rate in_place = measure(kernel, left.data(), in, size_bytes, count);
        std::printf("%-16s %-9s %-5s %9.1f (%6.1f) %9.1f (%6.1f)\n", dtype_name(dtype), table->name, reduce_op_name(op),
                    apart.median_GBps, apart.best_GBps, in_place.median_GBps, in_place.best_GBps);
      }
    }
  }
}

}  // namespace
}  // namespace ringtree

int main(int argc, char** argv) {
  const long long size_bytes = argc > 1 ? std::atoll(argv[1]) : 65536;
  if (size_bytes < 16) {
    std::fprintf(stderr, "usage: bench_reduce [size_bytes], at least 16\n");
    return 2;
  }
  ringtree::run(static_cast<size_t>(size_bytes));
  return 0;
}
