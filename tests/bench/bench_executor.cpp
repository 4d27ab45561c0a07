// What the engine itself takes beside the bytes that it moves: ns of a call, and of a slice step. One rank copies
// eight bytes to and fro, k steps a call; a straight line through the times over k gives both. Steps of two chunks run
// on the executor's general path, steps of one on that for small calls (docs/engine.md). Each step's share of moving 8
// or 16 bytes is in the figures. A tool for whoever changes core/engine; not a test.
//
// Usage: bench_executor        Every time is the best of 31 repetitions: what disturbs one only slows it down.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/base/clock.h"
#include "core/bootstrap/thread_store.h"
#include "core/engine/communicator.h"

namespace ringtree {
namespace {

constexpr int kRepetitions = 31;
constexpr int kCalls = 20'000;
constexpr int kFewSteps = 2, kManySteps = 34;

// input -> output, then output -> scratch and back.
Schedule to_and_fro(int num_steps, int num_chunks) {
  ScheduleShape shape;
  shape.name = "to-and-fro-" + std::to_string(num_steps);
  shape.num_ranks = 1;
  shape.num_chunks = shape.widest = num_chunks;
  return Schedule(shape, [num_steps, num_chunks](ProgramBuilder& builder) {
    const int slot = builder.reserve_scratch(num_chunks);
    for (int i = 0; i < num_steps; ++i) {
      Step step;
      step.verb = Verb::copy;
      step.chunks = {0, num_chunks};
      step.src = i == 0 ? kInput : (i % 2 == 1 ? kOutput : scratch(slot));
      step.dst = i % 2 == 1 ? scratch(slot) : kOutput;
      builder.add(step);
    }
  });
}

double ns_of_call(Communicator& communicator, const AlgorithmRef& algorithm, size_t count) {
  std::vector<double> input(count, 1.0), output(count);
  Call arguments;
  arguments.dtype = Dtype::kFloat64;
  arguments.count = count;
  arguments.input = input.data();
  arguments.output = output.data();
  arguments.algorithm = algorithm;
  double best = 1e9;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const int64_t start_ns = now_ns();
    for (int i = 0; i < kCalls; ++i) communicator.run(arguments);
    best = std::min(best, static_cast<double>(now_ns() - start_ns) / kCalls);
  }
  return best;
}

void print(Communicator& communicator, const char* path, int num_chunks, bool traced) {
  double ns[2];
  const int steps[2] = {kFewSteps, kManySteps};
  if (traced) communicator.start_trace(size_t{1} << 16);
  for (int i = 0; i < 2; ++i) {
    auto schedule = std::make_shared<const Schedule>(to_and_fro(steps[i], num_chunks));
    AlgorithmRef algorithm;
    algorithm.name = schedule->shape().name;
    algorithm.own_hash = schedule->structural_hash();
    algorithm.own = std::move(schedule);
    ns[i] = ns_of_call(communicator, algorithm, static_cast<size_t>(num_chunks));
  }
  const double step = (ns[1] - ns[0]) / (kManySteps - kFewSteps);
  if (traced) communicator.take_trace();
  std::printf("%-28s %-8s %6.1f ns a slice step, %6.1f ns a call\n", path, traced ? "traced" : "", step,
              ns[0] - kFewSteps * step);
}

}  // namespace
}  // namespace ringtree

int main() {
  using namespace ringtree;
  ThreadStore store;
  Communicator communicator(store, 0, 1, Settings{}, AlgorithmTable{});
  for (bool traced : {false, true}) {
    print(communicator, "small calls", 1, traced);
    print(communicator, "general (steps of 2 chunks)", 2, traced);
  }
}
