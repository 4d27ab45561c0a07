// Proves that a schedule computes its collective, or names the step or link at which it does not. It executes symbols,
// not numbers: no data, no floating point, no engine. That each program is well formed is Program's to check, earlier.
//
// What is proved, by one run with one slice a step and two slots a link (docs/decisions/0003 says why that carries over
// to every slot count, size, uneven layout and number of passes):
//   1. Ledger: on each link the k-th send meets the k-th receive, both name the same chunks, and none is left over.
//   2. Order: no deadlock, with lanes in order, dependencies kept and two slots a link.
//   3. Values, out of place and in place: nothing is read before it is written, no contribution is counted twice, and
//      every output chunk holds each contribution once, by one expression on all ranks (so all get the same bits).
#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/schedule/schedule.h"

namespace ringtree {

/// A schedule that is well formed but does not do what its collective asks; the message is the verdict's problem.
struct VerificationError : UsageError {
  using UsageError::UsageError;
};

/// The names of what can be wrong, in the order in which they are looked for. See the list above.
namespace fault {
inline constexpr const char* kLedger = "ledger";                // a send without its receive, or other chunks
inline constexpr const char* kDeadlock = "deadlock";            // steps that wait for each other
inline constexpr const char* kUninitialised = "uninitialised";  // read, or left as output, but never written
inline constexpr const char* kWrongChunk = "wrong chunk";       // a scratch slot read as another chunk than it holds
inline constexpr const char* kDoubleContribution = "double contribution";
inline constexpr const char* kMissingContribution = "missing contribution";
inline constexpr const char* kDifferentExpressions = "different expressions";  // right sums, but not by the same folds
}  // namespace fault

struct Verdict {
  bool ok = false;
  std::string kind;     // one of fault::k…, empty if ok
  std::string problem;  // one line that names rank and step, or the link with both ends; empty if ok
  int rank = -1;        // where the fault first shows; -1 if ok
  int step = -1;        // of that rank; -1 if ok or if no one step shows it
  int64_t num_steps = 0;
  int64_t num_messages = 0;  // reads of a message: a multicast counts once a reader
  int64_t num_links = 0;     // likewise
};

/// Time and memory grow with the steps of all ranks times their fan and chunks. Throws ScheduleError if a program is
/// not well formed. Pure: may be called from any thread.
Verdict verify(const Schedule& schedule);

/// Throws VerificationError if verify() finds a problem.
void require_verified(const Schedule& schedule);

}  // namespace ringtree
