// What a trace of one rank consists of: events with a beginning and an end, and the calls that they belong to. Plain
// data; who writes it: trace_log.h, what is made of it: ringtree/trace.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/engine/call_description.h"
#include "core/schedule/layout.h"
#include "core/schedule/schedule.h"

namespace ringtree {

/// What an event is. All but `step`, `sleep` and `call` are waits of one lane: from the poll that first found it so to
/// the one that found it over. A lane that waits for one thing after another has one event each, without gaps.
enum class TraceKind : uint8_t {
  step = 0,        // a slice step: its bytes move
  message = 1,     // a message that is not there
  wire = 2,        // emulated clusters: a message that is under way
  slot = 3,        // a place for the next message: the readers have not released enough
  dependency = 4,  // a step of another lane
  card = 5,        // emulated clusters: the host's network card
  readers = 6,     // no lane's: peers still read in place what this rank sent
  sleep = 7,       // no lane's: the rank slept in the kernel, while all lanes waited
  call = 8,        // no lane's: from the first poll of a call to its last
};

inline constexpr const char* kTraceKindNames[] = {"step", "message", "wire",  "slot", "dependency",
                                                  "card", "readers", "sleep", "call"};

/// Times are now_ns(), the same clock on all ranks of a host. -1, and 0 of what cannot be negative: has none.
struct TraceEvent {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t virtual_ns = 0;  // emulated clusters, of a step: when it is done there
  uint64_t call = 0;       // its sequence number
  uint32_t pass = 0, slice = 0;
  uint32_t bytes = 0;         // of the slice
  int32_t step = -1;          // of the rank's program: what is done, or what waits
  int32_t awaited_step = -1;  // of the same program; of a dependency
  int32_t peer = -1;          // whose message is waited for
  int16_t channel = -1, lane = -1;
  TraceKind kind = TraceKind::step;
};
static_assert(sizeof(TraceEvent) == 64, "an event fills a cache line");

/// A call of which there are events.
struct TracedCall {
  CallDescription description;
  std::shared_ptr<const Schedule> schedule;  // says what the steps are
  Cut cut;
  int num_channels = 1;
  bool complete = false;  // it ended well, and none of its events is lost
};

struct Trace {
  int rank = 0;
  std::vector<TracedCall> calls;   // in their order
  std::vector<TraceEvent> events;  // in the order in which they ended
  uint64_t num_lost = 0;           // events that were overwritten by later ones
};

}  // namespace ringtree
