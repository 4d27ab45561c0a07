// See copy_rate.h. Threads touch their buffers first themselves, so that the pages are near their core.
#include "core/probe/copy_rate.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/helper_thread.h"
#include "core/base/stream_copy.h"
#include "core/probe/pinned_thread.h"

namespace ringtree {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;  // at least, of a chunk: 10 µs or so, long beside reading the clock
constexpr int kLeastChunks = 3;                    // of each way, however short the time: one may be interrupted
constexpr size_t kFillBytes = size_t{1} << 20;
constexpr size_t kAlignment = 64;
// Buffers from this size on are copied both ways. Not from the size of the last cache: virtual machines report one that
// is ten times too large.
constexpr size_t kBothWaysFrom = size_t{1} << 20;

using Copy = void (*)(std::byte* to, const std::byte* from, size_t num_bytes);

void copy_ordinary(std::byte* to, const std::byte* from, size_t num_bytes) { std::memcpy(to, from, num_bytes); }

// Nothing is read only to be overwritten. glibc does the same from a size on that it guesses.
void copy_past_caches(std::byte* to, const std::byte* from, size_t num_bytes) {
  stream_copy(to, from, num_bytes);
  stream_fence();  // the copy is done when its bytes are on their way to everybody, not when they wait in this core
}

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<std::byte[], Free>;

// Not written yet: who writes first decides where the pages lie.
Buffer allocate(size_t num_bytes) {
  const size_t rounded = (num_bytes + kAlignment - 1) / kAlignment * kAlignment;
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!buffer) throw std::bad_alloc();
  return buffer;
}

int64_t checked_ns(double seconds, const char* what) {
  if (!(seconds >= 0 && seconds <= 60))
    throw UsageError(std::string(what) + " between 0 and 60 seconds, not " + std::to_string(seconds));
  return static_cast<int64_t>(seconds * 1e9);
}

}  // namespace

// What threads that begin together share.
struct CopyProbe::Start {
  size_t num_threads = 0;
  int64_t until_ns = 0;
  std::atomic<size_t> num_ready{0};
  std::atomic<bool> failed{false};

  // True when every thread is ready. Yields, because others may still have to begin on this core.
  bool meet() {
    num_ready.fetch_add(1, std::memory_order_acq_rel);  // pairs with the acquire load below
    while (num_ready.load(std::memory_order_acquire) < num_threads) {
      // Relaxed: says only that somebody gave up; no data goes with it.
      if (failed.load(std::memory_order_relaxed) || now_ns() >= until_ns) return false;
      sched_yield();
    }
    return true;
  }
};

// The fields that change are its thread's, and read after that was joined.
struct CopyProbe::Worker {
  int core = 0;
  Buffer from, to;
  size_t num_written = 0;  // bytes of each
  double best_rate = 0;    // bytes per second

  // In pieces, so that a thread that rarely gets its core can give up in time.
  bool write(const Start& start, size_t num_bytes) {
    for (; num_written < num_bytes; num_written += std::min(kFillBytes, num_bytes - num_written)) {
      if (now_ns() >= start.until_ns) return false;
      const size_t piece = std::min(kFillBytes, num_bytes - num_written);
      std::memset(from.get() + num_written, 1, piece);
      std::memset(to.get() + num_written, 2, piece);
    }
    return true;
  }

  double chunk_rate(Copy way, size_t num_bytes) {
    const size_t num_copies = std::max<size_t>(1, kChunkBytes / num_bytes);
    const int64_t before_ns = now_ns();
    for (size_t i = 0; i < num_copies; ++i) {
      way(to.get(), from.get(), num_bytes);
      // The compiler must take it that somebody reads what was copied, or it need not copy.
      asm volatile("" : : "r"(to.get()), "r"(from.get()) : "memory");
    }
    const int64_t taken_ns = std::max<int64_t>(1, now_ns() - before_ns);
    return static_cast<double>(num_copies * num_bytes) * 1e9 / static_cast<double>(taken_ns);
  }

  bool copy(Start& start, size_t num_bytes, const std::vector<Copy>& ways, int64_t length_ns) {
    best_rate = 0;
    if (!start.meet()) return false;
    // One way after the other, each for its share: taking turns, what went past the caches would be cold for the other.
    for (Copy way : ways) {
      const int64_t end_ns = now_ns() + length_ns / static_cast<int64_t>(ways.size());
      for (int chunk = 0; now_ns() < (chunk < kLeastChunks ? start.until_ns : end_ns); ++chunk)
        best_rate = std::max(best_rate, chunk_rate(way, num_bytes));
    }
    return best_rate > 0 && is_on_core(core);
  }
};

namespace {

void check(size_t num_bytes, const std::vector<int>& cores, size_t memory_cap) {
  if (cores.empty()) throw UsageError("copying needs at least one core");
  if (std::set<int>(cores.begin(), cores.end()).size() != cores.size())
    throw UsageError("a core is named twice: its threads would share it");
  if (num_bytes == 0) throw UsageError("the number of bytes to copy must be above 0");
  if (const size_t needed = copy_rate_memory(num_bytes, cores.size()); needed > memory_cap)
    throw UsageError("copying " + std::to_string(num_bytes) + " bytes on " + std::to_string(cores.size()) +
                     " cores takes " + std::to_string(needed) + " bytes of memory, more than the cap of " +
                     std::to_string(memory_cap));
}

}  // namespace

size_t copy_rate_memory(size_t num_bytes, size_t num_cores) {
  size_t needed = 0;
  if (__builtin_mul_overflow(num_bytes, 2 * num_cores, &needed)) return SIZE_MAX;
  return needed;
}

CopyProbe::CopyProbe(size_t num_bytes, const std::vector<int>& cores, size_t memory_cap, double patience_s)
    : num_bytes_(num_bytes), patience_ns_(checked_ns(patience_s, "patience must lie")) {
  check(num_bytes, cores, memory_cap);
  workers_.reserve(cores.size());
  for (const int core : cores) workers_.push_back({core, allocate(num_bytes), allocate(num_bytes)});
}

CopyProbe::~CopyProbe() = default;

// True if `body` was true of every worker, on the worker's own core.
template <class Body>
bool CopyProbe::on_all_cores(int64_t length_ns, const Body& body) {
  Start start;
  start.num_threads = workers_.size();
  start.until_ns = now_ns() + length_ns + patience_ns_;
  // Relaxed: tells meet() to give up sooner; read here after the join.
  const auto fail = [&] { start.failed.store(true, std::memory_order_relaxed); };
  std::vector<std::thread> threads;
  threads.reserve(workers_.size());
  const auto join_all = [&] {
    for (std::thread& thread : threads) thread.join();
  };
  try {
    for (Worker& worker : workers_)
      threads.push_back(start_helper_thread("rt-copy", [&] {
        if (!pin_to_core(worker.core) || !body(worker, start)) fail();
      }));
  } catch (...) {
    fail();  // those that wait for the missing ones give up
    join_all();
    throw;
  }
  join_all();
  return !start.failed.load(std::memory_order_relaxed);
}

std::optional<double> CopyProbe::measure(double seconds) {
  const int64_t length_ns = checked_ns(seconds, "copying takes");
  // Apart from copying: a thread that is slow to write must not cost the others their time to copy.
  if (!written_)
    written_ = on_all_cores(0, [&](Worker& worker, Start& start) { return worker.write(start, num_bytes_); });
  if (!written_) return std::nullopt;
  std::vector<Copy> ways{copy_ordinary};
  if (num_bytes_ >= kBothWaysFrom) ways.push_back(copy_past_caches);
  const bool copied = on_all_cores(
      length_ns, [&](Worker& worker, Start& start) { return worker.copy(start, num_bytes_, ways, length_ns); });
  if (!copied) return std::nullopt;
  double best = 0;
  for (const Worker& worker : workers_) best = std::max(best, worker.best_rate);
  return best;
}

std::optional<double> copy_rate(size_t num_bytes, const std::vector<int>& cores, double seconds, size_t memory_cap,
                                double patience_s) {
  return CopyProbe(num_bytes, cores, memory_cap, patience_s).measure(seconds);
}

}  // namespace ringtree
