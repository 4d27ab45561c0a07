// Compositions: one way inside a host, where ranks share memory, and any algorithm between the hosts. Written once for
// every collective and every outer algorithm; which pairs are on offer: hierarchical.cpp.
//
// Let k be the number of ranks on the smallest host. The data is cut into k shards; on each host the ranks with local
// index 0 … k-1 each own one. The owners of shard j on all hosts run the outer algorithm among themselves on it, as if
// they were all ranks there are and the shard all data.
//
//   all_reduce, 2 hosts x 3 ranks     host 0: 0 1 2     host 1: 3 4 5
//     take    owner j folds shard j of all ranks of its host, in rank order          (shared memory, fan-in)
//     outer   0 and 3, 1 and 4, 2 and 5: all_reduce of their shard between the hosts (network)
//     hand    owner j shows its result to all ranks of its host                      (shared memory, multicast)
//
//   Each network card carries what the outer algorithm sends for one vector, whatever the number of ranks behind it.
//   What an owner has itself, or nobody wants, is not moved: reduce_scatter ends at the owner where hosts are equal,
//   all_gather begins there; broadcast and reduce have one rank that gives or gets. On larger hosts the blocks of ranks
//   that own nothing go along with those of owners.
//
// Inside::by_switch: a switch of each host folds what its ranks send, passes it to the owner and multicasts what the
// owner sends. It takes the owner's own part from it, too, and gives the owner its result back, as loads and stores of
// multicast memory do (PTX ISA, multimem.ld_reduce and multimem.st): the way to the switch and back is one link each.
//
//   all_reduce, ranks 0 1 2         0 ─┐            ┌─ 0
//                                   1 ─┤ + ─> j ─> *├─ 1        for each owner j, side by side
//                                   2 ─┘            └─ 2
//
// Lanes of a rank: give, take, outer, hand, get: so the stages overlap, chunk by chunk and slice by slice, in the order
// in which the outer algorithm uses its chunks.
#pragma once

#include <cstdint>

#include "core/schedule/host_groups.h"
#include "core/schedule/schedule.h"

namespace ringtree {

enum class Inside : uint8_t { by_memory, by_switch };

/// `outer` makes the schedule among the owners: it must read each chunk of its input once, in one block a rank if the
/// collective has blocks, and keep in its output what it multicasts. Makes every rank's steps once, to know the widest.
/// Throws ScheduleError for a root that does not exist. By a switch: of collectives without a root.
Schedule composition(const char* name, Collective collective, int root, const HostGroups& hosts,
                     Schedule (*outer)(Collective collective, int num_ranks, int root),
                     Inside inside = Inside::by_memory);

}  // namespace ringtree
