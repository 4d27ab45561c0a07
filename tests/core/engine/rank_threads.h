// Helpers of this folder's tests: ranks as threads, each with a communicator of the built-in algorithms, and what
// became of each rank. Not for tests that kill ranks: those fork (test_death.cpp). Data and its checks: exact_data.h.
#pragma once

#include <sched.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/algorithms/registry.h"
#include "core/bootstrap/thread_store.h"
#include "core/builtin/algorithm_table.h"
#include "core/engine/communicator.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {

/// Settings whose deadline no healthy test meets.
inline Settings test_settings(int num_channels = 1) {
  Settings settings;
  settings.timeout_s = 60;
  settings.num_channels = num_channels;
  settings.memory_cap_bytes = size_t{4} << 30;
  return settings;
}

/// A built-in algorithm, with what else is asked for.
inline AlgorithmRef by(const std::string& name, std::optional<Protocol> protocol = {}, size_t slice_bytes = 0,
                       std::optional<bool> streaming = {}) {
  AlgorithmRef algorithm{"", nullptr, 0, protocol, slice_bytes, streaming};
  algorithm.set_name(name);
  return algorithm;
}
/// A schedule of the user's own.
inline AlgorithmRef own(Schedule schedule, std::optional<Protocol> protocol = {}) {
  AlgorithmRef algorithm = by(schedule.shape().name, protocol);
  algorithm.own_hash = schedule.structural_hash();
  algorithm.own = std::make_shared<const Schedule>(std::move(schedule));
  return algorithm;
}

/// Where ranks may run. With fewer cores than ranks they sleep soon and links are fenced; with a core for each of them
/// neither, where the machine has so many.
enum class Cores { all, one };
inline const char* name_of(Cores cores) { return cores == Cores::one ? "one core" : "all cores"; }

/// Keeps the calling thread, and those that it starts from now on, on `cores`.
inline void stay_on(Cores cores) {
  if (cores == Cores::all) return;
  cpu_set_t usable, one;
  CPU_ZERO(&usable);
  CPU_ZERO(&one);
  int core = 0;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) throw std::runtime_error("no cores");
  while (!CPU_ISSET(core, &usable)) ++core;
  CPU_SET(core, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) throw std::runtime_error("cannot choose a core");
}

using RankBody = std::function<void(Communicator&)>;

/// Runs `body` on `num_ranks` threads, each with its communicator, which ends with the body. What each threw, "" if
/// nothing. `settings_of`: each rank's settings.
inline std::vector<std::string> run_communicators(int num_ranks, const std::function<Settings(int rank)>& settings_of,
                                                  const RankBody& body, Cores cores = Cores::all) {
  ThreadStore store;
  return run_ranks(num_ranks, [&](int rank) {
    stay_on(cores);
    Communicator communicator(store, rank, num_ranks, settings_of(rank), built_in_table());
    body(communicator);
  });
}

inline std::vector<std::string> run_communicators(int num_ranks, const Settings& settings, const RankBody& body,
                                                  Cores cores = Cores::all) {
  return run_communicators(num_ranks, [&](int) { return settings; }, body, cores);
}

/// Why `auto` runs what it runs for an all_reduce of `count` floats.
inline std::string reason_of(const Communicator& communicator, size_t count) {
  return communicator.choose({Collective::all_reduce, Dtype::kFloat32, ReduceOp::sum, 0, count}).second;
}

/// What a call says; its arrays are the caller's.
inline Call call_of(Collective collective, size_t count, Dtype dtype = Dtype::kFloat32, ReduceOp op = ReduceOp::sum,
                    int root = 0) {
  Call arguments;
  arguments.collective = collective;
  arguments.count = count;
  arguments.dtype = dtype;
  arguments.op = op;
  arguments.root = root;
  return arguments;
}

/// A call, by that algorithm.
inline Call with(Call call, const AlgorithmRef& algorithm) {
  call.ask(algorithm);
  return call;
}

/// An all_reduce of `count` float32 ones, in place, that must give the number of ranks.
inline void sum_of_ones(Communicator& communicator, size_t count, const AlgorithmRef& algorithm, double timeout_s = 0) {
  std::vector<float> data(count, 1.0f);
  Call arguments;
  arguments.count = count;
  arguments.input = arguments.output = data.data();
  arguments.timeout_s = timeout_s;
  communicator.run(with(arguments, algorithm));
  for (float value : data)
    if (value != static_cast<float>(communicator.world_size())) throw std::runtime_error("a wrong sum");
}
inline void sum_of_ones(Communicator& communicator, size_t count, const std::string& algorithm = "ring",
                        double timeout_s = 0) {
  sum_of_ones(communicator, count, by(algorithm), timeout_s);
}

/// Makes the call with operands of its own, and then a sum: where the call differs between ranks, one of them throws.
inline void run_then_sum(Communicator& communicator, Call call) {
  const size_t num_blocks = has_blocks(call.collective) ? static_cast<size_t>(communicator.world_size()) : 1;
  std::vector<float> input(call.count * num_blocks), output(call.count * num_blocks);  // also of int32
  call.input = input.data();
  call.output = output.data();
  communicator.run(call);
  sum_of_ones(communicator, 10);
}

}  // namespace ringtree::testing
