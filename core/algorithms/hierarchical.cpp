// hierarchical_*: directly through shared memory inside each host, by another algorithm between the hosts, one shard
// for each rank of the smallest host (compose.h has the drawing). What crosses the network is what the outer algorithm
// sends among as many ranks as there are hosts.
//
//   H hosts of k ranks           hops between hosts   sent by each network card (S: the whole vector)
//   ring                         2(H-1)               2(H-1)/H · S        reduce_scatter, all_gather: half of both
//   tree (all_reduce: two)       2⌈log₂ H⌉            up to 2S            broadcast, reduce: ⌊log₂ H⌋ and up to 2S or S
//   halving_doubling             2⌊log₂ H⌋, + 2       2(P-1)/P · S, + S/2 if H is not its power of two P
//   pat                          ⌈log₂ H⌉             (H-1)/H · S
// and one hop into the owner, one out of it inside the hosts (none where the collective begins or ends there).
// Source: compositions of this kind are in, e.g., NCCL (rings and trees between hosts over all channels of a host) and
// in N. T. Karonis et al., "Exploiting hierarchy in parallel computer networks to optimize collective operation
// performance", IPDPS 2000; one owner a shard as in the two-dimensional all-reduce of H. Mikami et al., "Massively
// distributed SGD: ImageNet/ResNet-50 training in a flash", arXiv 1811.05233, 2018.
#include "core/algorithms/builtin.h"
#include "core/algorithms/compose.h"

namespace ringtree {
namespace {

Schedule over_ring(Collective collective, int root, const HostGroups& hosts) {
  return composition("hierarchical_ring", collective, root, hosts, ring_algorithm().make_flat);
}

// Both directions of an all_reduce are busy in two trees; a broadcast or reduce has one direction and one tree.
Schedule over_tree(Collective collective, int root, const HostGroups& hosts) {
  const Algorithm outer = collective == Collective::all_reduce ? double_tree_algorithm() : tree_algorithm();
  return composition("hierarchical_tree", collective, root, hosts, outer.make_flat);
}

Schedule over_halving_doubling(Collective collective, int root, const HostGroups& hosts) {
  return composition("hierarchical_halving_doubling", collective, root, hosts, halving_doubling_algorithm().make_flat);
}

Schedule over_pat(Collective collective, int root, const HostGroups& hosts) {
  return composition("hierarchical_pat", collective, root, hosts, pat_algorithm().make_flat);
}

Algorithm row(const char* name, const char* title, std::vector<Collective> collectives,
              Schedule (*compose)(Collective collective, int root, const HostGroups& hosts)) {
  return {.name = name,
          .title = title,
          .source = "Karonis et al. 2000; Mikami et al. 2018",
          .collectives = std::move(collectives),
          .compose = compose,
          .for_several_hosts = true};
}

}  // namespace

Algorithm hierarchical_ring_algorithm() {
  return row("hierarchical_ring", "a shard for each rank of a host; ring between the hosts",
             {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}, over_ring);
}

Algorithm hierarchical_tree_algorithm() {
  return row("hierarchical_tree", "a shard for each rank of a host; tree (all_reduce: double_tree) between the hosts",
             {Collective::all_reduce, Collective::broadcast, Collective::reduce}, over_tree);
}

Algorithm hierarchical_halving_doubling_algorithm() {
  return row("hierarchical_halving_doubling", "a shard for each rank of a host; halving_doubling between the hosts",
             {Collective::all_reduce}, over_halving_doubling);
}

Algorithm hierarchical_pat_algorithm() {
  return row("hierarchical_pat", "a shard for each rank of a host; pat between the hosts",
             {Collective::reduce_scatter, Collective::all_gather}, over_pat);
}

}  // namespace ringtree
