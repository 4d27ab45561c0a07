// One execution of an explored program: its threads, who goes next, and what each operation does. What memory answers
// is memory.h's, which executions there are to try is path.h's.
//
// Which executions differ. Two executions in which every load reads from the same store and every location has the same
// modification order are the same, however their operations were interleaved. So a plain access or a store that is not
// seq_cst never waits for others: nobody's later step can change what it does (a store may enter the modification order
// before stores that were executed earlier). At a load, a read-modify-write or a seq_cst operation the path picks among
// all threads that stand at one, and among what each may read. A choice that was tried falls asleep (sleep sets): while
// the siblings are explored, it may be made again only after a step that is not independent of it. A load that has
// been tried with everything there is thus waits until something new is stored.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/models/explorer/explorer.h"
#include "tests/models/explorer/fiber.h"
#include "tests/models/explorer/memory.h"
#include "tests/models/explorer/path.h"
#include "tests/models/explorer/shadow.h"
#include "tests/models/explorer/trace.h"

namespace ringtree::explorer {

/// A place in the program's memory that holds an atomic: what it held when the threads started lies there itself.
struct Place {
  void* address = nullptr;
  size_t bytes = 0;
};

class Run final : public Program {
 public:
  Run(const Options& options, Path& path);

  enum class End : uint8_t { complete, redundant, faulty };
  /// Makes the program and runs it once along the path.
  End once(const std::function<void(Program&)>& make);
  Fault fault() const { return fault_; }
  std::string report() const;

  // Program
  void thread(std::string name, std::function<void()> body) override;
  void name(const void* memory, size_t bytes, std::string name) override;
  void at_end(std::function<void()> check) override { at_end_ = std::move(check); }

  // What threads do; see policy.h. Values are the bytes of the object, zero-extended.
  uint64_t load(Place place, std::memory_order order);
  void store(Place place, uint64_t value, std::memory_order order);
  /// Replaces the value v by next(v). Returns v.
  uint64_t update(Place place, const std::function<uint64_t(uint64_t)>& next, std::memory_order order);
  /// True and stored if the value is `expected`; else `expected` becomes it. Never fails spuriously.
  bool compare_exchange(Place place, uint64_t& expected, uint64_t desired, std::memory_order order,
                        std::memory_order if_different);
  void fence(std::memory_order order);
  void store_fence();
  void fence_everybody();
  void sleep_if(Place place, uint64_t expected);
  void wake_all(Place place);
  void begin_round();
  void give_up();
  void read(const void* address, size_t bytes);
  void write(const void* address, size_t bytes, bool non_temporal);
  /// The execution has failed: does not return on a thread.
  void fail(Fault fault, const std::string& what);

  /// The run whose threads or program is being executed.
  static Run& current();

 private:
  struct Abandoned {};  // thrown through a thread whose execution is over

  enum class Kind : uint8_t { load, store, update, compare, fence, fence_of_other, sleep, wake };
  struct Operation {
    Kind kind = Kind::load;
    LocationId location = 0;
    std::memory_order order = std::memory_order_relaxed;
    uint64_t expected = 0;  // compare
    size_t target = 0;      // fence_of_other
  };
  enum class State : uint8_t { runnable, at_operation, waiting, asleep, finished };
  struct Reading {
    LocationId location;
    MessageId message;
  };
  struct Thread {
    std::string name;
    std::function<void()> body;
    State state = State::runnable;
    bool started = false;
    Operation operation;
    uint64_t tried = 0;  // choices of `operation` that are asleep, by message
    MessageId chosen = 0;
    ThreadViews views;
    LocationId sleeps_on = 0;
    // In this round of a waiting loop.
    std::vector<Reading> readings;
    bool stored = false;
    std::vector<std::function<void()>> late;  // Options::late_stores
  };
  struct Alternative {
    size_t thread;
    MessageId choice;
  };

  void clear();
  bool in_thread() const { return running_ != kNobody; }
  bool is_over() const { return abandoning_ || fault_ != Fault::none; }
  Thread& self() { return threads_[running_]; }
  LocationId locate(Place place);
  bool is_named(LocationId location, const std::string& name) const;
  void store_now(LocationId location, uint64_t value, std::memory_order order);
  void store_late();
  std::memory_order effective(LocationId location, Access access, std::memory_order order) const;

  MessageId decide(const Operation& operation);
  bool is_independent_of_others(const Operation& operation) const;
  bool are_dependent(size_t thread_a, const Operation& a, size_t thread_b, const Operation& b) const;
  void options_of(const Thread& thread, std::vector<MessageId>& out) const;
  bool sees_something_new(const Thread& thread) const;
  void hand_over();
  size_t pick_next();
  size_t what_is_next() const;
  void take(const std::vector<Alternative>& alternatives, size_t index);
  void switch_from_to(size_t from, size_t to);
  Fiber& fiber(size_t thread) { return thread == kNobody ? main_ : *fibers_[thread]; }
  static void enter(void* run);
  void run_thread();
  void abandon_threads();
  void note_fault(Fault fault, const std::string& what);
  End judge();
  void note_reading(LocationId location, MessageId message);
  size_t add_event(EventKind kind, LocationId location, std::memory_order order, uint64_t value, MessageId from);
  void judge_access(const ShadowVerdict& verdict, const void* address, const char* what);

  static constexpr size_t kNobody = ~size_t{0};

  const Options& options_;
  Path& path_;
  Memory memory_;
  Shadow shadow_;
  Trace trace_;
  std::vector<Thread> threads_;
  std::vector<Region> regions_;
  std::vector<std::pair<void*, LocationId>> located_;
  std::function<void()> at_end_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber main_;
  size_t running_ = kNobody;
  uint32_t steps_ = 0;
  bool abandoning_ = false;
  bool ended_ = false;  // all threads have
  Fault fault_ = Fault::none;
  std::string what_;
  mutable std::vector<MessageId> scratch_;
  std::vector<Alternative> alternatives_;
};

}  // namespace ringtree::explorer
