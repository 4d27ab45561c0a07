// Which schedule is likely to be fastest, without running any: a closed form for one shared-memory host, the sliced
// recurrence for several hosts, real or emulated. What `auto` uses where no measured profile exists. The model knows no
// algorithm: names come from the caller.
//
// The closed form. Per hop of the longest chain of messages a receiver must notice its message: hops · alpha. Where
// ranks share cores it must get a core first, and the others that wait there have theirs in turn: alpha is then
// num_ranks / num_cores · switch. A core
// that copies at copy_Bps reads each byte once and writes it once, so a rank whose steps read r and write w bytes takes
// as long as one that copies (r + w) / 2: reading and writing are taken to cost the same. A fold of two operands into
// one thus counts 1.5, a multicast from one buffer 1, a one-shot all_reduce, of which each rank reads n + 1 vectors and
// writes 2, (n + 3) / 2. With the busiest rank's and all ranks' shares,
//     moved = (written + read) / 2,   total_moved = (total_written + total_read) / 2,
// and num_cores cores for all of them, moving the data takes
//     work = max(moved, total_moved / num_cores) · S / copy_Bps
// (a little too long if one rank reads most and another one writes most).
// Messages stream in slices, so the busiest rank does not wait for whole messages of those before it; but the first
// slice must come through all hops in which that rank has no part itself, of which there are hops − steps:
//     fill = max(0, hops − steps) · slice / copy_Bps,   slice = a step's share cut as in cut_parts().
// T = hops · alpha + fill + work. A ring (hops < steps) has no fill: its chain *is* the busiest rank's work. A chain
// (2 steps, 2(n−1) hops) has 2(n−2) slices of it. Left out: caches, contention, and what an operation costs
// beyond its operands. It ranks schedules; it does not replace measuring.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/model/cluster.h"
#include "core/schedule/cost_summary.h"
#include "core/schedule/host_groups.h"

namespace ringtree {

struct Machine {
  double alpha_s = 0;   // from a message's last store until its reader, on a core of its own, acts on it
  double switch_s = 0;  // a rank's turn on a core that it shares, with the scheduler's switch to the next one
  double copy_Bps = 1;  // bytes per second that one core copies: reads and writes
  int num_cores = 1;
};

/// Constants of the machine class that the project is developed on (values, source and date in estimate.cpp), with this
/// process's number of cores. Where ranks may see different numbers of cores the caller must agree on one.
Machine default_machine();

/// Links between real hosts of which nothing was measured (values and source in estimate.cpp).
HostLinks default_host_links();

/// What messages between hosts cost the processors, which the recurrence leaves out.
struct MessageWork {
  double message_s = 0;       // of a core, to send a message and to receive it together
  double ranks_per_core = 1;  // that share a core, where that is most
};

/// Of this machine class (value and source in estimate.cpp).
MessageWork default_message_work(double ranks_per_core);

/// Seconds by the closed form for a collective on `num_bytes` bytes (S above: the whole vector, as in CostSummary).
double estimate_seconds(const CostSummary& summary, int num_ranks, size_t num_bytes, const Machine& machine);

struct Candidate {
  std::string name;
  CostSummary summary;
};

struct Choice {
  int index = 0;       // of the fastest candidate; the first of equals
  std::string reason;  // one line: "closed-form model: ring 1.2 ms, tree 1.9 ms (4 ranks on 2 cores, 1048576 bytes)"
  std::vector<double> seconds;  // of each candidate
};

/// Throws UsageError if there is no candidate.
Choice choose(std::span<const Candidate> candidates, int num_ranks, size_t num_bytes, const Machine& machine);

/// For several hosts: time_schedule() of each candidate at just this size, because a closed form of the shares of each
/// network card would need the placement, and what its messages cost the busiest core. Costs milliseconds to tens of
/// milliseconds: decide once a size.
Choice choose_on_hosts(std::span<const Schedule> candidates, size_t count, size_t item_size, const HostGroups& hosts,
                       const HostLinks& links, const MessageWork& work);
/// The same for an emulated cluster.
Choice choose_on_cluster(std::span<const Schedule> candidates, size_t count, size_t item_size, const Cluster& cluster);

}  // namespace ringtree
