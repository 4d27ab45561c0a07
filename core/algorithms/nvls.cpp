// nvls, nvls_tree: the switch that joins the GPUs of a host adds up and multicasts (NVLink SHARP, in NVSwitch 3 and
// newer), so that a vector goes up to it once and comes down once. Between hosts, where nvls_tree has it, each shard
// takes two trees. compose.h has the drawing, and what a switch does with an owner's own part.
//
//   k ranks of a switch, S: the whole vector; each way on a rank's link to the switch
//                    up                       down
//   all_reduce       S + S/k  (k+1)/k · S     S/k + S  (k+1)/k · S      both: parts for all owners, and its own shard
//   reduce_scatter   S                        S/k
//   all_gather       S/k                      S
//   nvls_tree        as all_reduce; between H hosts each owner sends what double_tree sends of its shard: up to
//                    3/2 · S/k, a message for each neighbour
// 2 hops for each way through the switch: 4 for an all_reduce, whatever k is, and 2⌈log₂ H⌉ between hosts.
// Source: NCCL's NVLS and NVLSTree (2.17 and 2.18, src/device/all_reduce.h): each rank owns a shard, loads it added up
// by multimem.ld_reduce and stores it to all by multimem.st; B. Klenk, N. Jiang, G. Thorson, L. Dennison, "An
// In-Network Architecture for Accelerating Shared-Memory Multiprocessor Collectives", ISCA 2020.
#include "core/algorithms/builtin.h"
#include "core/algorithms/compose.h"

namespace ringtree {
namespace {

Schedule on_one_switch(Collective collective, int root, const HostGroups& hosts) {
  if (hosts.num_hosts() > 1)
    throw UsageError("nvls is for ranks of one switch, and these have " + std::to_string(hosts.num_hosts()) +
                     ": for all_reduce nvls_tree goes between them");
  return composition("nvls", collective, root, hosts, ring_algorithm().make_flat, Inside::by_switch);
}

Schedule trees_between(Collective collective, int root, const HostGroups& hosts) {
  return composition("nvls_tree", collective, root, hosts, double_tree_algorithm().make_flat, Inside::by_switch);
}

}  // namespace

Algorithm nvls_algorithm() {
  return {.name = "nvls",
          .title = "the hosts' switch reduces a shard for each rank and multicasts the sum; one host",
          .source = "NCCL's NVLS; Klenk et al. 2020",
          .collectives = {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather},
          .compose = on_one_switch};
}

Algorithm nvls_tree_algorithm() {
  return {.name = "nvls_tree",
          .title = "nvls inside the hosts, double_tree between them",
          .source = "NCCL's NVLSTree",
          .collectives = {Collective::all_reduce},
          .compose = trees_between,
          .for_several_hosts = true};
}

}  // namespace ringtree
