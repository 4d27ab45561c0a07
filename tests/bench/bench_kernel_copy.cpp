// Whether copies by the kernel (process_vm_readv) would pay as a way of the engine's: its whole calls beside bare
// exchanges that read straight from the peers' private memory, with one barrier that stands for "my data is there" and
// one for "I have read it", and nothing of what an engine must do besides. Where the bare exchange is not faster, no
// transport made of it is. docs/decisions/0029 has figures of it. A tool; not a test.
//
// Usage: bench_kernel_copy [RANKS=2] [SECONDS=4 a size] [OFFSET=0]     Ranks are processes, each pinned, on as many
// cores as there are. Arms take turns within a round: up to eight calls a turn, over eight pairs of buffers that take
// their turns, too. With a core for each rank, a turn in which a rank lost its core is repeated, and a round in which
// that did not help is dropped. Printed: medians, and quartiles of the ratios within rounds. OFFSET: bytes by which
// outputs lie further behind a page's beginning than inputs.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/pause_cpu.h"
#include "core/base/stream_copy.h"
#include "core/bootstrap/unix_store.h"
#include "core/builtin/algorithm_table.h"
#include "core/engine/communicator.h"
#include "core/reduce/kernels.h"
#include "core/transport/shared_buffer.h"

namespace ringtree {
namespace {

constexpr int kMaxRanks = 16;
constexpr size_t kPairs = 8, kMostBytes = size_t{16} << 20, kScratchBytes = size_t{64} << 10;
constexpr size_t kTurnBytes = size_t{4} << 20;
constexpr int kTries = 10;

// All atomics are sequentially consistent: the barrier orders what ranks copy before it and after it, and nothing here
// is so fast that an order would show.
struct alignas(64) Place {
  std::atomic<uint64_t> barrier{0};
  std::atomic<long> switches{0};  // times that the rank lost or gave away its core in this turn
};
struct Common {
  std::array<Place, kMaxRanks> places;
  std::atomic<bool> failed{false}, enough{false};
  std::array<std::atomic<pid_t>, kMaxRanks> pids{};
};

struct Ranks {
  int rank = 0, num = 2;
  bool own_cores = true;
  Common* common = nullptr;
  uint64_t num_barriers = 0;

  void barrier() {
    common->places[static_cast<size_t>(rank)].barrier.store(++num_barriers);
    for (int other = 0; other < num; ++other)
      while (common->places[static_cast<size_t>(other)].barrier.load() < num_barriers) {
        if (common->failed.load()) _exit(1);
        if (own_cores) {
          pause_cpu();
        } else {
          sched_yield();
        }
      }
  }
  int peer(int distance) const { return (rank + distance) % num; }
  pid_t pid(int of) const { return common->pids[static_cast<size_t>(of)].load(); }
};

[[noreturn]] void fail(Ranks& ranks, const char* what) {
  std::perror(what);
  ranks.common->failed.store(true);
  _exit(1);
}

/// One call of `bytes`, of the larger of a rank's two buffers. Addresses are alike on all ranks: they were forked.
struct Work {
  Collective collective;
  size_t bytes;
  int root;
  std::byte *input, *output;
  std::byte* scratch;

  size_t block(int num) const { return bytes / static_cast<size_t>(num); }
};

// --- the kernel's way

void transfer(Ranks& ranks, int peer, std::byte* here, std::byte* there, size_t bytes, bool push) {
  for (size_t done = 0; done < bytes;) {
    iovec local{here + done, bytes - done}, remote{there + done, bytes - done};
    const ssize_t moved = push ? process_vm_writev(ranks.pid(peer), &local, 1, &remote, 1, 0)
                               : process_vm_readv(ranks.pid(peer), &local, 1, &remote, 1, 0);
    if (moved <= 0) fail(ranks, "process_vm_readv or writev");
    done += static_cast<size_t>(moved);
  }
}

void copy_own(const Work& work, std::byte* to, const std::byte* from, size_t bytes) {
  if (streams_by_default(work.bytes, true)) {
    stream_copy(to, from, bytes);
    stream_fence();
  } else {
    std::memcpy(to, from, bytes);
  }
}

void all_gather(Ranks& ranks, const Work& work) {
  const size_t block = work.block(ranks.num);
  copy_own(work, work.output + static_cast<size_t>(ranks.rank) * block, work.input, block);
  for (int i = 1; i < ranks.num; ++i) {
    const int peer = ranks.peer(i);
    transfer(ranks, peer, work.output + static_cast<size_t>(peer) * block, work.input, block, false);
  }
}

void all_to_all(Ranks& ranks, const Work& work) {
  const size_t block = work.block(ranks.num), own = static_cast<size_t>(ranks.rank) * block;
  copy_own(work, work.output + own, work.input + own, block);
  for (int i = 1; i < ranks.num; ++i) {
    const int peer = ranks.peer(i);
    transfer(ranks, peer, work.output + static_cast<size_t>(peer) * block, work.input + own, block, false);
  }
}

// In place. In halves: the root pushes one while the reader pulls the other, so that both cores copy.
void broadcast(Ranks& ranks, const Work& work, bool halves) {
  const size_t half = work.bytes / 2;
  if (ranks.rank != work.root) {
    transfer(ranks, work.root, work.output, work.output, halves ? half : work.bytes, false);
  } else if (halves) {
    transfer(ranks, ranks.peer(1), work.output + half, work.output + half, work.bytes - half, true);
  }
}

// two_shot: each rank folds its chunk of all, then all chunks are gathered.
void all_reduce(Ranks& ranks, const Work& work) {
  static const FoldKernel fold = fold_kernel(Dtype::kFloat32, ReduceOp::sum);
  const size_t block = work.block(ranks.num), own = static_cast<size_t>(ranks.rank) * block;
  for (int i = 1; i < ranks.num; ++i)
    for (size_t at = own; at < own + block; at += kScratchBytes) {
      const size_t bytes = std::min(kScratchBytes, own + block - at);
      transfer(ranks, ranks.peer(i), work.scratch, work.input + at, bytes, false);
      const void* const operands[2] = {i == 1 ? work.input + at : work.output + at, work.scratch};
      fold(work.output + at, operands, 2, bytes / sizeof(float));
    }
  ranks.barrier();
  for (int i = 1; i < ranks.num; ++i) {
    const size_t at = static_cast<size_t>(ranks.peer(i)) * block;
    transfer(ranks, ranks.peer(i), work.output + at, work.output + at, block, false);
  }
}

void by_kernel(Ranks& ranks, const Work& work, bool halves) {
  ranks.barrier();
  if (work.collective == Collective::all_gather) all_gather(ranks, work);
  if (work.collective == Collective::all_to_all) all_to_all(ranks, work);
  if (work.collective == Collective::broadcast) broadcast(ranks, work, halves);
  if (work.collective == Collective::all_reduce) all_reduce(ranks, work);
  ranks.barrier();
}

// --- the engine's

void by_engine(Communicator& communicator, const Work& work, bool streamed) {
  Call call;
  call.collective = work.collective;
  const bool of_blocks = work.collective == Collective::all_gather || work.collective == Collective::all_to_all;
  call.count = (of_blocks ? work.block(communicator.world_size()) : work.bytes) / sizeof(float);
  const bool rooted = work.collective == Collective::broadcast;
  call.root = rooted ? work.root : 0;
  call.input = rooted ? work.output : work.input;
  call.output = work.output;
  if (streamed) call.algorithm.emplace().streaming = true;
  communicator.run(call);
}

// --- arms, rounds, tables

enum class Arm : uint8_t { engine, streamed, shared, kernel, halves };
constexpr const char* kArmNames[] = {"engine", "engine, streamed", "engine, shared", "kernel", "kernel, in halves"};

void run(Arm arm, Ranks& ranks, Communicator& communicator, const Work& work) {
  if (arm != Arm::kernel && arm != Arm::halves) {
    by_engine(communicator, work, arm == Arm::streamed);
  } else {
    by_kernel(ranks, work, arm == Arm::halves);
  }
}

long switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw + usage.ru_nvcsw;
}

/// `shared_…`: that peers read in place (core/transport/shared_buffer.h); the others are private memory.
struct Buffers {
  std::byte *inputs, *outputs, *scratch, *shared_inputs = nullptr, *shared_outputs = nullptr;
};

Work nth(const Work& like, const Buffers& buffers, Arm arm, size_t index) {
  const bool shared = arm == Arm::shared;
  Work work = like;
  work.input = (shared ? buffers.shared_inputs : buffers.inputs) + index % kPairs * like.bytes;
  work.output = (shared ? buffers.shared_outputs : buffers.outputs) + index % kPairs * like.bytes;
  work.scratch = buffers.scratch;
  work.root = static_cast<int>(index % 2);
  return work;
}

// Each arm's output must be the engine's, byte by byte. Values differ by rank and place, and their sums are exact.
void check(Arm arm, Ranks& ranks, Communicator& communicator, const Work& work) {
  std::vector<float> numbers(work.bytes / sizeof(float));
  const auto fill = [&] {
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>((i * 7 + static_cast<size_t>(ranks.rank) * 1001) % 65'521);
    std::memcpy(work.input, numbers.data(), work.bytes);
    std::memcpy(work.output, numbers.data(), work.bytes);
    ranks.barrier();
  };
  fill();
  by_engine(communicator, work, false);
  const std::vector<std::byte> wanted(work.output, work.output + work.bytes);
  fill();
  run(arm, ranks, communicator, work);
  if (std::memcmp(wanted.data(), work.output, work.bytes) != 0) fail(ranks, "wrong result");
}

// Before it ranks sleep: who slept keeps its core for a while, and others get theirs meanwhile.
double us_of_turn(Arm arm, Ranks& ranks, Communicator& communicator, const Work& like, const Buffers& buffers,
                  size_t& pair, bool& undisturbed) {
  const size_t num_calls = std::clamp(kTurnBytes / like.bytes, size_t{1}, kPairs);
  if (ranks.own_cores) usleep(1000);
  ranks.barrier();
  const long switches_before = switches();
  const int64_t begin_ns = now_ns();
  for (size_t i = 0; i < num_calls; ++i) run(arm, ranks, communicator, nth(like, buffers, arm, pair++));
  ranks.barrier();
  const double us = static_cast<double>(now_ns() - begin_ns) / 1000 / static_cast<double>(num_calls);
  ranks.common->places[static_cast<size_t>(ranks.rank)].switches.store(switches() - switches_before);
  ranks.barrier();
  undisturbed = true;
  for (int rank = 0; rank < ranks.num && ranks.own_cores; ++rank)
    undisturbed &= ranks.common->places[static_cast<size_t>(rank)].switches.load() == 0;
  ranks.barrier();
  return us;
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

void measure(Ranks& ranks, Communicator& communicator, const Buffers& buffers, const Work& like, double seconds) {
  std::vector<Arm> arms = {Arm::engine, Arm::streamed, Arm::shared, Arm::kernel};
  if (like.collective == Collective::broadcast && ranks.num == 2) arms.push_back(Arm::halves);
  for (const Arm arm : arms) check(arm, ranks, communicator, nth(like, buffers, arm, 0));
  const Deadline deadline = Deadline::after_seconds(seconds);
  std::vector<std::vector<double>> times(arms.size());  // of rounds that nothing disturbed
  std::vector<double> best(arms.size(), 1e18);
  size_t num_rounds = 0, pair = 0;
  for (;; ++num_rounds) {
    if (ranks.rank == 0) ranks.common->enough.store(deadline.passed());
    ranks.barrier();
    if (ranks.common->enough.load()) break;
    bool all_undisturbed = true;
    std::vector<double> us(arms.size());
    for (size_t i = 0; i < arms.size(); ++i) {
      const size_t arm = (i + num_rounds) % arms.size();
      bool undisturbed = false;
      for (int tries = 0; !undisturbed && tries < kTries; ++tries)
        us[arm] = us_of_turn(arms[arm], ranks, communicator, like, buffers, pair, undisturbed);
      if (undisturbed) best[arm] = std::min(best[arm], us[arm]);
      all_undisturbed &= undisturbed;
    }
    for (size_t arm = 0; all_undisturbed && arm < arms.size(); ++arm) times[arm].push_back(us[arm]);
  }
  if (ranks.rank != 0) return;
  std::printf("%-10s %6zu KB, %zu of %zu rounds\n", collective_name(like.collective), like.bytes >> 10, times[0].size(),
              num_rounds);
  for (size_t arm = 0; !times[0].empty() && arm < arms.size(); ++arm) {
    std::vector<double> ratios(times[0].size());
    for (size_t i = 0; i < ratios.size(); ++i) ratios[i] = std::min(times[0][i], times[1][i]) / times[arm][i];
    std::printf("    %-18s %9.1f us, best %9.1f   better engine's time over it %.2f [%.2f, %.2f]\n",
                kArmNames[static_cast<size_t>(arms[arm])], quantile(times[arm], 0.5), best[arm], quantile(ratios, 0.5),
                quantile(ratios, 0.25), quantile(ratios, 0.75));
  }
  std::fflush(stdout);
}

int run_rank(Ranks& ranks, Buffers buffers, const std::string& job, double seconds, size_t offset) {
  const auto shared_inputs = allocate_shared(kPairs * kMostBytes);
  const auto shared_outputs = allocate_shared(kPairs * kMostBytes + offset);
  buffers.shared_inputs = shared_inputs->data();
  buffers.shared_outputs = shared_outputs->data() + offset;
  std::memset(buffers.inputs, 1 + ranks.rank, kPairs * kMostBytes);
  std::memset(buffers.outputs, 0, kPairs * kMostBytes);
  std::memset(buffers.scratch, 0, kScratchBytes);
  UnixStore store(job, ranks.rank, Deadline::after_seconds(30));
  Settings settings;
  settings.timeout_s = 60;
  Communicator communicator(store, ranks.rank, ranks.num, settings, built_in_table());
  for (const Collective collective :
       {Collective::all_gather, Collective::broadcast, Collective::all_to_all, Collective::all_reduce})
    for (const size_t kb : {256, 1024, 2048, 4096, 8192, 16'384})
      measure(ranks, communicator, buffers, {collective, kb << 10, 0, nullptr, nullptr, nullptr}, seconds);
  int64_t best_ns = INT64_MAX;
  for (int i = 0; i < 100; ++i) {
    const int64_t begin_ns = now_ns();
    for (int k = 0; k < 100; ++k) ranks.barrier();
    best_ns = std::min(best_ns, (now_ns() - begin_ns) / 100);
  }
  if (ranks.rank == 0) std::printf("a barrier of the ranks: %ld ns\n", static_cast<long>(best_ns));
  return 0;
}

void pin(int rank) {
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int skip = rank % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && skip-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

std::byte* reserve(size_t bytes) {
  return static_cast<std::byte*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

}  // namespace
}  // namespace ringtree

int main(int argc, char** argv) {
  using namespace ringtree;
  Ranks ranks;
  ranks.num = std::clamp(argc > 1 ? std::atoi(argv[1]) : 2, 2, kMaxRanks);
  const double seconds = argc > 2 ? std::atof(argv[2]) : 4;
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  ranks.own_cores = ranks.num <= CPU_COUNT(&allowed);
  void* const shared = mmap(nullptr, sizeof(Common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ranks.common = new (shared) Common;
  const size_t offset = argc > 3 ? static_cast<size_t>(std::atoi(argv[3])) % 4096 : 0;
  const Buffers buffers{reserve(kPairs * kMostBytes), reserve(kPairs * kMostBytes + offset) + offset,
                        reserve(kScratchBytes)};
  const std::string job = "bench-kernel-copy-" + std::to_string(getpid());
  for (int rank = 1; rank < ranks.num; ++rank) {
    const pid_t child = fork();
    if (child < 0) fail(ranks, "fork");
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      ranks.rank = rank;
      break;
    }
  }
  pin(ranks.rank);
  ranks.common->pids[static_cast<size_t>(ranks.rank)].store(getpid());
  ranks.barrier();
  const int result = run_rank(ranks, buffers, job, seconds, offset);
  if (ranks.rank != 0) _exit(result);
  while (wait(nullptr) > 0) {
  }
  return result;
}
