// two_shot: all_reduce in two hops with as few bytes as ring where peers can be read directly. First every rank sends
// chunk j to rank j, which adds up what it gets in rank order; then it multicasts the sum.
//
//   n = 4, rank 1    lane 0: send chunk 2 to 2, chunk 3 to 3, chunk 0 to 0
//                    lane 1: fold chunk 1 from 0, own, 2, 3 into the output; multicast it to 0, 2, 3
//                    lane 2: receive chunk 2 from 2, chunk 3 from 3, chunk 0 from 0
//
// Each rank begins with its successor, so that not all send to rank 0 at once. Tags: 0 for operands, 1 for sums, as
// their slots have different readers.
//
// Steps: 2n-1 in 3 lanes. Hops: 2. Sent: S ((n-1)/n · S operands and one multicast of S/n). Written: 2S,
// read: (3n-2)/n · S.
// Source: the two-shot all-reduce of vLLM (csrc/custom_all_reduce.cuh) and TensorRT-LLM, 2023.
#include "core/algorithms/builtin.h"
#include "core/algorithms/steps.h"

namespace ringtree {
namespace {

constexpr int kOperands = 0, kSums = 1;  // tags

void generate(ProgramBuilder& b) {
  const int n = b.num_ranks(), rank = b.rank();
  std::vector<int> others;
  for (int peer = 0; peer < n; ++peer)
    if (peer != rank) others.push_back(peer);
  for (int offset = 1; offset < n; ++offset) {
    const int peer = around(rank, offset, n);
    b.add(Do(Verb::send, {peer}, 0).own(kInput).to(peer, kOperands));
  }
  b.add(Do(Verb::recv_reduce_copy_send, {rank}, 1)
            .from(others, kOperands)
            .own(kInput, rank)
            .into(kOutput)
            .to(others, kSums));
  for (int offset = 1; offset < n; ++offset) {
    const int peer = around(rank, offset, n);
    b.add(Do(Verb::recv, {peer}, 2).from(peer, kSums).into(kOutput));
  }
}

Schedule make(Collective collective, int num_ranks, int root) {
  return schedule_or_copy("two_shot", collective, num_ranks, root, num_ranks, 1, generate);
}

CostSummary cost(Collective, int num_ranks) {
  if (num_ranks == 1) return kCopyCost;
  const double n = num_ranks, read = (3 * n - 2) / n;
  return {.steps = 2 * num_ranks - 1,
          .hops = 2,
          .sent = 1,
          .written = 2,
          .read = read,
          .total_written = n * 2,
          .total_read = n * read,
          .total_in_slots = 3 * n - 2,
          .total_received = 2 * (n - 1),
          .total_one_way = num_ranks > 2 ? 1. : 0,  // the sums, multicast
          .messages = int64_t{2} * num_ranks * (num_ranks - 1),
          .links = int64_t{num_ranks} * num_ranks};
}

}  // namespace

Algorithm two_shot_algorithm() {
  return {"two_shot",
          "each rank adds up its chunk, sent to it by all, in rank order, and multicasts the sum",
          "two-shot all-reduce of vLLM and TensorRT-LLM, 2023",
          {Collective::all_reduce},
          make,
          cost};
}

}  // namespace ringtree
