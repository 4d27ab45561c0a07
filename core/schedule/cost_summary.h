// The few numbers that closed-form models need of a schedule. Algorithms state theirs as formulas; measure() counts
// them in the schedule itself, which is how the formulas are checked and how a user's own schedule gets its numbers.
#pragma once

#include "core/schedule/schedule.h"

namespace ringtree {

/// Each byte of a step's result is written once to its buffer and once to its slot; each operand of a fold is read
/// once, as the engine folds all of them in one pass, and a slot with several readers is read by each of them. Bytes
/// are given as a share of the collective's whole vector (all_reduce, broadcast, reduce: the buffer; the others: the
/// blocks of all ranks together; all_to_all: all that one rank sends), with chunks taken as equal. Messages to and from
/// switches count as hops, messages and links; what a switch does is nobody's work.
///
/// Two ranks that send to each other alone exchange slots (core/transport/exchange_pool.h): each sends in what it has
/// just read, which lies in its own core's caches. Over any other link, a multicast's too, a slot is written while it
/// still lies in its reader's: it goes one way.
struct CostSummary {
  int steps = 0;             // of the busiest rank's program
  int hops = 0;              // messages on the longest chain in which each waits for the one before (one slice a step)
  double sent = 0;           // most that one rank puts into slots; a multicast counts once, as one slot is written
  double written = 0;        // most that one rank writes, into slots and into its own buffers
  double read = 0;           // most that one rank reads, from slots and from its own buffers, out of place
  double total_written = 0;  // by all ranks together: what few cores must do for many ranks
  double total_read = 0;
  double total_in_slots = 0;  // of total_written + total_read: into slots and out of them
  double total_received = 0;  // of total_in_slots: out of them, so what all messages together are long
  double total_one_way = 0;   // of total_in_slots: put into slots that go one way, see above
  int64_t messages = 0;       // of all ranks, one slice a step; a multicast counts once for each reader
  int64_t links = 0;          // sequences of slots that are written, of all ranks; a multicast is one
};

/// Whether messages pass through ranks one after the other while those behind have nothing to do, as in a chain: then
/// it pays to cut them into slices. Where every rank has as many steps as there are hops, as in a ring, it is busy
/// meanwhile.
constexpr bool is_pipelined(const CostSummary& summary) { return summary.hops > summary.steps; }

/// The same of a schedule; of a mix, whether any of its shares is so by itself. As expensive as measure(), and throws
/// as it does.
bool is_pipelined(const Schedule& schedule);

/// Counts the numbers in the schedule. Time and memory grow with all steps of all ranks. Throws ScheduleError if the
/// messages of the schedule cannot all be delivered (the verifier says why).
CostSummary measure(const Schedule& schedule);

}  // namespace ringtree
