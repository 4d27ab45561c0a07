// Which schedule is likely to be fastest, without running any: a closed form for one shared-memory host, the sliced
// recurrence for several hosts, real or emulated. What `auto` uses where no measured profile exists. The model knows no
// algorithm: names come from the caller.
//
// The closed form: what all ranks have to do, on the core that has most of it, and what they wait for.
//
// Waiting. Per hop of the longest chain of messages a receiver must notice its message: hops · alpha. Where ranks share
// cores it must get a core first, and the others that wait there have theirs in turn: alpha is then
// num_ranks / num_cores · switch.
// Work. Reading a byte and writing it are taken to cost the same, half of copying it (not in slots of shared cores:
// below). What is touched again after D other bytes is still at hand with a probability of cache / (cache + D): then it
// takes 1 / near_Bps to copy it, else 1 / copy_Bps:
//     pace(D) = 1/near_Bps + (1/copy_Bps − 1/near_Bps) · D / (cache + D)
// The ranks' own buffers are B = (total_written + total_read − total_in_slots) · S / 2 bytes, as most of them is read
// and written, and next touched in the next call: D = B. What lies in slots, X = total_in_slots · S / 2, was written by
// another core where every rank has one, and is fetched from there, however little it is:
//     work = B · pace(B) + X / copy_Bps
// Where ranks share cores nothing of their work is hidden in each other's waits, and it is counted more closely. Each
// slice of a message costs message_s, whatever is in it. A message has R / messages bytes, R = total_received · S, cut
// as in cut_parts(). Slots are used in turn, F = min(links · kSlots · slice, W) bytes of them, W = 2X − R being what is
// put into slots: less than R where a slot has several readers. While all of them are used once, as many bytes of the
// buffers pass through the cache, if there are as many: D = F + min(B, F). That is why schedules with many links, which
// move least, lose where data is large. A byte's way through a slot costs more at its end, where the reader waits for
// what another rank wrote, than at its beginning: r = kReceivedShare of it. Slots that two ranks exchange lie in the
// writer's caches; the others' bytes, O = total_one_way · S, are first fetched from their reader's core, if its own
// cache, C = kOwnCacheBytes, still holds them: k = kOneWay times copying them inside the caches. Squared, because
// that fits better than the ratio itself.
//     work = B · pace(B) + (r · R + (1 − r) · W) · pace(F + min(B, F)) + k · O / near_Bps · (C / (C + F + B))²
//            + slices · message_s
// All ranks have this together. The core with most of it has, with moved = (written + read) / 2 of the busiest rank
// and total_moved = (total_written + total_read) / 2 of all,
//     share = max(moved / total_moved, 1 / num_cores).
// Messages stream in slices, so the busiest rank does not wait for whole messages of those before it; but the first
// slice must come through all hops in which that rank has no part itself, of which there are hops − steps:
//     fill = max(0, hops − steps) · slice / copy_Bps,   slice = a step's share cut as in cut_parts().
// T = hops · alpha + fill + share · work. A ring (hops < steps) has no fill: its chain *is* the busiest rank's work. A
// chain (2 steps, 2(n−1) hops) has 2(n−2) slices of it. Left out: what an operation costs beyond its operands, and what
// every schedule of the collective costs alike. It ranks schedules; it does not replace measuring. docs/tune.md has
// what its choices lose.
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
  double alpha_s = 0;      // from a message's last store until its reader, on a core of its own, acts on it
  double switch_s = 0;     // a rank's turn on a core that it shares, with the scheduler's switch to the next one
  double message_s = 0;    // of a core: what a slice costs its sender and its reader beside its bytes
  double copy_Bps = 1;     // bytes per second that one core copies, reads and writes, beyond the caches
  double near_Bps = 1;     // the same inside them
  double cache_bytes = 1;  // that what ranks touch again finds room in
  int num_cores = 1;
  std::string source = kBuiltIn;  // of the constants, for people: kBuiltIn, or "probed 2026-11-25"

  static constexpr const char* kBuiltIn = "built in";
};

/// Constants of the machine class that the project is developed on (values, source and date in estimate.cpp), with this
/// process's number of cores. Where ranks may see different numbers of cores the caller must agree on one.
Machine default_machine();

/// Links between real hosts of which nothing was measured (values and source in estimate.cpp).
HostLinks default_host_links();

/// What messages between hosts cost the processors, which the recurrence leaves out: of a core, to send and to receive
/// together.
struct MessageWork {
  double message_s = 0;       // a message, however it is sliced
  double byte_s = 0;          // a byte of it
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
  int index = 0;       // of the fastest candidate; of equals the first, if nothing else is said
  std::string reason;  // one line: "closed-form model: ring 1.2 ms, tree 1.9 ms (4 ranks on 2 cores, 1048576 bytes)"
  std::vector<double> seconds;  // of each candidate
};

/// Throws UsageError if there is no candidate.
Choice choose(std::span<const Candidate> candidates, int num_ranks, size_t num_bytes, const Machine& machine);

/// For several hosts: time_schedule() of each candidate at just this size, because a closed form of the shares of each
/// network card would need the placement, and what its messages cost the busiest rank or core. The two overlap, as a
/// message's latency has its cost in it: the longer one counts, and a fifth of the other. Where ranks share cores,
/// links are no faster than cores can feed them. Of those that are equal within 3 % the one with the fewest links.
/// Costs milliseconds to tens of milliseconds: decide once a size.
Choice choose_on_hosts(std::span<const Schedule> candidates, size_t count, size_t item_size, const HostGroups& hosts,
                       const HostLinks& links, const MessageWork& work);
/// The same for an emulated cluster.
Choice choose_on_cluster(std::span<const Schedule> candidates, size_t count, size_t item_size, const Cluster& cluster);

}  // namespace ringtree
