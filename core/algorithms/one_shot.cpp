// one_shot: all_reduce in one hop. Each rank shows its whole input to all others (a multicast: one slot that all read),
// and each adds up everything by itself, in rank order, so that all get the same bits. For the smallest vectors, where
// hops are all that counts.
//
//   n = 4, rank 1    lane 0: send a1 to 0, 2, 3
//                    lane 1: fold a0 (from 0), a1 (own), a2, a3 (from 2, 3) into the output
//
// Steps: 2, in 2 lanes so that slice i is folded while slice i + 1 leaves. Hops: 1. Sent: S, written: 2S,
// read: (n+1)·S, its own input twice.
// Source: the one-shot all-reduce of vLLM (csrc/custom_all_reduce.cuh) and TensorRT-LLM, 2023.
#include "core/algorithms/builtin.h"
#include "core/algorithms/steps.h"

namespace ringtree {
namespace {

void generate(ProgramBuilder& b) {
  std::vector<int> others;
  for (int peer = 0; peer < b.num_ranks(); ++peer)
    if (peer != b.rank()) others.push_back(peer);
  b.add(Do(Verb::send, {0}, 0).own(kInput).to(others));
  b.add(Do(Verb::recv_reduce_copy, {0}, 1).from(others).own(kInput, b.rank()).into(kOutput));
}

Schedule make(Collective collective, int num_ranks, int root) {
  return schedule_or_copy("one_shot", collective, num_ranks, root, 1, 1, generate);
}

CostSummary cost(Collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  const double n = num_ranks;
  return {.steps = 2,
          .hops = 1,
          .sent = 1,
          .written = 2,
          .read = n + 1,
          .total_written = n * 2,
          .total_read = n * (n + 1),
          .total_in_slots = n * n,
          .total_received = n * (n - 1),
          .total_one_way = num_ranks > 2 ? n : 0,
          .messages = int64_t{num_ranks} * (num_ranks - 1),
          .links = num_ranks};
}

}  // namespace

Algorithm one_shot_algorithm() {
  return {"one_shot",
          "each rank multicasts its input; every rank adds up all of them in rank order",
          "one-shot all-reduce of vLLM and TensorRT-LLM, 2023",
          {Collective::all_reduce},
          make,
          cost};
}

}  // namespace ringtree
