// How fast the kernels are, per dtype, instruction set and aliasing: GB/s of input and output bytes together, what that
// is of float32's rate by the same table, and ns a call. A tool for whoever changes core/reduce; not a test, and not
// the project's benchmark (that is `ringtree compare`).
//
// Usage: bench_reduce [size_bytes=65536] [num_inputs=2] [dtype...]
// The folds of one op of each kind (bxor beside float32's sum, which has no bxor), then premul_sum's scaling, which has
// one input. Every figure is the best of 31 repetitions: what disturbs a repetition only slows it down. Buffers start
// at a line, and none is a multiple of 4 KiB from another, or stores would seem to meet the loads.
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
template <class Call>
double measure(const Call& call) {
  int64_t calls = 1;
  double best_ns = 1e18;
  for (int repetition = 0; repetition < kRepetitions;) {
    const int64_t start_ns = now_ns();
    for (int64_t k = 0; k < calls; ++k) call();
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

class Bench {
 public:
  Bench(size_t size_bytes, int num_inputs) : size_bytes_(size_bytes), buffers_(size_bytes, num_inputs) {
    std::printf("%d inputs of %zu bytes; GB/s read and written, (of float32), ns a call; best of %d\n", num_inputs,
                size_bytes, kRepetitions);
    std::printf("%-16s %-9s %-6s %26s %28s\n", "dtype", "table", "op", "out of place", "in place");
  }

  void fold(const KernelTable& table, Dtype dtype, ReduceOp op) {
    const auto& float32_folds = table.fold[static_cast<int>(Dtype::kFloat32)];
    const FoldKernel kernel = table.fold[static_cast<int>(dtype)][static_cast<int>(op)];
    const FoldKernel same_op = float32_folds[static_cast<int>(op)];
    const FoldKernel float32 = same_op != nullptr ? same_op : float32_folds[static_cast<int>(ReduceOp::sum)];
    if (kernel == nullptr) return;
    const auto num_inputs = static_cast<int>(buffers_.in.size());
    const auto call = [&](FoldKernel each, void* out, size_t count) {
      each(out, buffers_.in.data(), num_inputs, count);
    };
    row(table, dtype, reduce_op_name(op), kernel, float32, call, num_inputs);
  }

  void scale(const KernelTable& table, Dtype dtype) {
    const ScaleKernel kernel = table.scale[static_cast<int>(dtype)];
    const ScaleKernel float32 = table.scale[static_cast<int>(Dtype::kFloat32)];
    if (kernel == nullptr) return;
    const auto call = [&](ScaleKernel each, void* out, size_t count) { each(out, buffers_.in[0], count, 3.0); };
    row(table, dtype, "scale", kernel, float32, call, 1);
  }

 private:
  template <class Kernel, class Call>
  void row(const KernelTable& table, Dtype dtype, const std::string& name, Kernel kernel, Kernel float32,
           const Call& call, int num_inputs) {
    std::printf("%-16s %-9s %-6s", dtype_name(dtype), table.name, name.c_str());
    for (const size_t place : {0, 1}) {
      unsigned char* out = buffers_.all[place];
      const double ns = measure([&] { call(kernel, out, size_bytes_ / item_size(dtype)); });
      double& reference_ns = float32_ns_[table.name + name + std::to_string(place)];
      if (reference_ns == 0) reference_ns = measure([&] { call(float32, out, size_bytes_ / sizeof(float)); });
      const double bytes = static_cast<double>(num_inputs + 1) * static_cast<double>(size_bytes_);
      std::printf(" %9.1f (%4.2f) %9.1f", bytes / ns, reference_ns / ns, ns);
    }
    std::printf("\n");
  }

  size_t size_bytes_;
  Buffers buffers_;
  std::map<std::string, double> float32_ns_;  // by table, op and aliasing
};

void run(size_t size_bytes, int num_inputs, const std::vector<Dtype>& dtypes) {
  Bench bench(size_bytes, num_inputs);
  for (Dtype dtype : dtypes) {
    for (const KernelTable* table : supported_kernel_tables()) {
      for (ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::bxor, ReduceOp::lxor}) bench.fold(*table, dtype, op);
      bench.scale(*table, dtype);
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
