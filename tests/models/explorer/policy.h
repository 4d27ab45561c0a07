// The policy that explored programs use where real ones use core/transport/atomics.h's StdAtomics: atomics and plain
// memory with the interface of std::atomic and T, of the same size, whose every access is the explorer's; fences, the
// kernel's sleep and wake, and payload bytes beside it. Only within explore().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/models/explorer/run.h"

namespace ringtree::explorer {

/// Holds what the atomic was when the threads started; the values since are the explorer's.
template <class T>
class ExploredAtomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));

 public:
  constexpr ExploredAtomic(T value = T{}) : initial_(value) {}  // implicit as std::atomic's
  ExploredAtomic(const ExploredAtomic&) = delete;
  ExploredAtomic& operator=(const ExploredAtomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    return value(Run::current().load(place(), order));
  }
  void store(T desired, std::memory_order order = std::memory_order_seq_cst) {
    Run::current().store(place(), bits(desired), order);
  }
  T exchange(T desired, std::memory_order order = std::memory_order_seq_cst) {
    return value(Run::current().update(place(), [&](uint64_t) { return bits(desired); }, order));
  }
  T fetch_add(T addend, std::memory_order order = std::memory_order_seq_cst) {
    return value(
        Run::current().update(place(), [&](uint64_t old) { return bits(static_cast<T>(value(old) + addend)); }, order));
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order order, std::memory_order if_different) {
    uint64_t found = bits(expected);
    const bool stored = Run::current().compare_exchange(place(), found, bits(desired), order, if_different);
    expected = value(found);
    return stored;
  }

  Place place() const { return {const_cast<T*>(&initial_), sizeof(T)}; }

 private:
  static uint64_t bits(T value) {
    uint64_t result = 0;
    std::memcpy(&result, &value, sizeof value);
    return result;
  }
  static T value(uint64_t bits) {
    T result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
  }

  T initial_;
};

/// Plain memory whose races are found. In zeroed memory that was never constructed it counts as never written.
template <class T>
class ExploredPlain {
 public:
  ExploredPlain& operator=(T value) {
    Run::current().write(this, sizeof *this, false);
    value_ = value;
    return *this;
  }
  operator T() const {  // implicit as T's own
    Run::current().read(this, sizeof *this);
    return value_;
  }

 private:
  T value_;
};

struct Explored {
  template <class T>
  using Atomic = ExploredAtomic<T>;
  template <class T>
  using Plain = ExploredPlain<T>;
};

/// Payload bytes of shared memory. All accesses to an address must have the same size.
inline void write_bytes(std::byte* to, const void* from, size_t bytes) {
  Run::current().write(to, bytes, false);
  std::memcpy(to, from, bytes);
}
/// By non-temporal stores: others may rely on them only after store_fence().
inline void stream_bytes(std::byte* to, const void* from, size_t bytes) {
  Run::current().write(to, bytes, true);
  std::memcpy(to, from, bytes);
}
inline void read_bytes(void* to, const std::byte* from, size_t bytes) {
  Run::current().read(from, bytes);
  std::memcpy(to, from, bytes);
}

inline void fence(std::memory_order order) { Run::current().fence(order); }
inline void store_fence() { Run::current().store_fence(); }
/// membarrier(2): a full fence on every thread, each at a moment of its own during the call. Needs
/// Options::fences_others.
inline void fence_everybody() { Run::current().fence_everybody(); }
/// futex(2): sleeps until woken, unless the word differs from `expected`. No spurious returns.
inline void sleep_if(const ExploredAtomic<uint32_t>& word, uint32_t expected) {
  Run::current().sleep_if(word.place(), expected);
}
inline void wake_all(const ExploredAtomic<uint32_t>& word) { Run::current().wake_all(word.place()); }
/// The loop `while (!ready()) {}`. A fruitless round must store nothing and leave nothing behind but caches of what it
/// read: it is then tried only as the last thing that a thread does, since an execution in which the thread looked
/// again is one in which it looked later.
template <class Ready>
void wait_until(const Ready& ready) {
  Run::current().begin_round();
  if (!ready()) Run::current().give_up();
}

}  // namespace ringtree::explorer
