// The explorer: runs a small concurrent program again and again, until every interleaving and every value that the C++
// memory model lets a load return has been tried, or one of them has gone wrong. Programs are ordinary code over the
// policy Explored (policy.h) in place of core/transport/atomics.h's StdAtomics; so the links themselves can be
// explored.
//
//   const Result result = explore([](Program& program) {
//     auto state = std::make_shared<State>();              // fresh for every execution
//     program.thread("sender", [state] { … });
//     program.thread("reader", [state] { … require(seen == sent, "lost"); });
//   });
//
// A program must be deterministic but for what its loads return, and must end: whoever waits does so in
// wait_until() or sleep_if(). Not for programs with clocks, and not a proof for larger constants than those that were
// run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ringtree::explorer {

enum class Fault : uint8_t {
  none,
  race,           // two plain accesses, one a write, without a happens-before edge
  uninitialised,  // a plain read of what nobody wrote
  requirement,    // require() failed
  deadlock,       // some threads wait for ever (a lost wake-up is one)
  endless,        // an execution of more than max_steps operations
  program,        // the program itself is at fault: it threw, or did not repeat itself
};
const char* fault_name(Fault fault);

enum class Access : uint8_t { load, store, update };

/// A mutation: every access of this kind to the named memory runs with this order.
struct Weakening {
  std::string name;
  Access access = Access::store;
  std::memory_order order = std::memory_order_relaxed;
};

struct Options {
  uint64_t max_executions = 5'000'000;
  uint32_t max_steps = 2'000;
  /// The program calls fence_everybody(). Every atomic operation is then a place where others may go first, not only
  /// those that can tell.
  bool fences_others = false;
  std::vector<Weakening> weakenings = {};
  /// Mutation: a store to memory of these names comes after the thread's next store.
  std::vector<std::string> late_stores = {};
  bool without_full_fences = false;   // mutation: seq_cst fences and fence_everybody() do nothing
  bool without_store_fences = false;  // mutation: store fences do nothing
  /// Tries every interleaving of all atomic operations: for tests of the explorer itself.
  bool without_reduction = false;
};

struct Result {
  Fault fault = Fault::none;
  std::string what;            // of the fault, then its trace
  bool is_exhaustive = false;  // every execution was tried; false also after a fault
  uint64_t executions = 0;     // that ended
  uint64_t redundant = 0;      // abandoned, because another order of independent operations was already tried
};

/// What one execution is made of.
class Program {
 public:
  virtual ~Program() = default;
  /// At most kMaxThreads. What a thread needs it must own (captured shared pointers).
  virtual void thread(std::string name, std::function<void()> body) = 0;
  /// Names memory for traces and weakenings. Of several regions that hold an address the first counts.
  virtual void name(const void* memory, size_t bytes, std::string name) = 0;
  /// Runs after all threads have ended; may call require().
  virtual void at_end(std::function<void()> check) = 0;
};

/// Tries all executions of what `make` makes, until one fails.
Result explore(const std::function<void(Program&)>& make, const Options& options = {});

/// In a thread or at the end: the execution fails unless `holds`.
void require(bool holds, const char* what);

}  // namespace ringtree::explorer
