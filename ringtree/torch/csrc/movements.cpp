// broadcast, all_gather, gather, scatter and all_to_all of the backend. See backend.h.
#include <numeric>

#include "backend.h"

namespace ringtree_torch {
namespace {

const void* block_at(const void* begin, size_t bytes) { return static_cast<const char*>(begin) + bytes; }

void gather_into(const at::Tensor& output, const at::Tensor& input, int rank, rtComm_t comm) {
  const Output result(output, Output::Content::kIgnored);
  const void* const own = block_at(result.data(), static_cast<size_t>(rank) * input.nbytes());
  const at::Tensor from = apart(input, {result.data(), output.nbytes()}, own);
  check(rtAllGather(from.data_ptr(), result.data(), static_cast<size_t>(from.numel()), datatype_of(input), comm), comm);
  result.finish();
}

void gather_list(const Tensors& outputs, const at::Tensor& input, int rank, rtComm_t comm) {
  const Pack pack(outputs, Output::Content::kIgnored);
  size_t before = 0;
  for (int peer = 0; peer < rank; ++peer) before += outputs[static_cast<size_t>(peer)].nbytes();
  const at::Tensor from = apart(input, {pack.data(), pack.tensor().nbytes()}, block_at(pack.data(), before));
  const rtDataType_t datatype = datatype_of(input);
  check(pack.even() ? rtAllGather(from.data_ptr(), pack.data(), pack.counts().front(), datatype, comm)
                    : rtAllGatherV(from.data_ptr(), pack.data(), pack.counts().data(), datatype, comm),
        comm);
  pack.finish();
}

void check_own(const Tensors& list, const at::Tensor& own, int rank, const char* what) {
  const at::Tensor& place = list[static_cast<size_t>(rank)];
  TORCH_CHECK_VALUE(place.numel() == own.numel(), "ringtree: ", what, ": this rank's tensor has ", own.numel(),
                    " elements, its place in the list ", place.numel());
  TORCH_CHECK_VALUE(place.scalar_type() == own.scalar_type(), "ringtree: ", what,
                    ": invalid tensor type: ", own.scalar_type(), " for a list of ", place.scalar_type());
}

void check_into(const at::Tensor& output, const at::Tensor& input, int64_t size, const char* what) {
  check_alike({output, input}, what);
  TORCH_CHECK_VALUE(output.numel() == input.numel() * size, "ringtree: ", what,
                    ": output tensor size must be equal to world_size times input tensor size: ", output.numel(),
                    " elements for ", size, " times ", input.numel());
}

void check_even(const Tensors& list, const at::Tensor& own, const char* what) {
  for (const at::Tensor& tensor : list)
    TORCH_CHECK_VALUE(tensor.numel() == own.numel() && tensor.scalar_type() == own.scalar_type(), "ringtree: ", what,
                      ": every tensor of the list must be like this rank's own, of ", own.numel(), " ",
                      own.scalar_type());
}

// Rows that go to, or come from, each rank: as they were given, or alike.
std::vector<size_t> split_counts(const at::Tensor& tensor, const std::vector<int64_t>& splits, int64_t size,
                                 const char* what) {
  const int64_t rows = tensor.dim() == 0 ? tensor.numel() : tensor.size(0);
  std::vector<int64_t> all = splits;
  if (all.empty()) {
    TORCH_CHECK(rows % size == 0,
                "ringtree: all_to_all_single: Tensor's dim 0 does not divide equally across group size: ", rows,
                " rows of the ", what, " over ", size, " ranks");
    all.assign(static_cast<size_t>(size), rows / size);
  }
  TORCH_CHECK(static_cast<int64_t>(all.size()) == size,
              "ringtree: all_to_all_single: Number of tensor splits not equal "
              "to group size: ",
              all.size(), " for the ", what, " of ", size, " ranks");
  TORCH_CHECK(std::accumulate(all.begin(), all.end(), int64_t{0}) == rows,
              "ringtree: all_to_all_single: Split sizes doesn't match total dim 0 size of the ", what);
  const int64_t row = rows == 0 ? 0 : tensor.numel() / rows;
  std::vector<size_t> counts;
  for (const int64_t split : all) {
    TORCH_CHECK(split >= 0, "ringtree: all_to_all_single: a split of ", split, " rows");
    counts.push_back(static_cast<size_t>(split * row));
  }
  return counts;
}

}  // namespace

WorkPtr Backend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) {
  at::Tensor tensor = only(tensors, "broadcast");
  check_root(opts.rootRank);
  return start({c10d::OpType::BROADCAST, "ringtree:broadcast", opts.timeout, is_async(opts)}, tensors, tensors,
               [this, tensor, root = static_cast<int>(opts.rootRank)](rtComm_t comm) {
                 const Output output(tensor, rank_ == root ? Output::Content::kNeeded : Output::Content::kIgnored);
                 check(rtBroadcast(output.data(), output.data(), output.count(), datatype_of(tensor), root, comm),
                       comm);
                 if (rank_ != root) output.finish();
               });
}

WorkPtr Backend::allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  at::Tensor input = only(inputs, "all_gather");
  check_lists(outputs, "all_gather");
  check_own(outputs.front(), input, rank_, "all_gather");
  return start({c10d::OpType::ALLGATHER, "ringtree:all_gather", opts.timeout, is_async(opts)}, outputs.front(), inputs,
               [this, list = outputs.front(), input](rtComm_t comm) { gather_list(list, input, rank_, comm); });
}

WorkPtr Backend::_allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& opts) {
  check_into(output, input, size_, "all_gather_into_tensor");
  return start({c10d::OpType::_ALLGATHER_BASE, "ringtree:_all_gather_base", opts.timeout, is_async(opts)}, {output},
               {input}, [this, output, input](rtComm_t comm) { gather_into(output, input, rank_, comm); });
}

WorkPtr Backend::allgather_coalesced(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  TORCH_CHECK_VALUE(outputs.size() == size(),
                    "ringtree: all_gather_coalesced: output lists should be equal to world "
                    "size: ",
                    outputs.size(), " for ", size_);
  std::vector<Tensors> by_input(inputs.size());
  Tensors all;
  for (const Tensors& of_rank : outputs) {
    TORCH_CHECK_VALUE(of_rank.size() == inputs.size(),
                      "ringtree: all_gather_coalesced: invalid output size: ", of_rank.size(), " tensors for ",
                      inputs.size(), " inputs");
    for (size_t i = 0; i < inputs.size(); ++i) {
      check_alike({of_rank[i], inputs[i]}, "all_gather_coalesced");
      by_input[i].push_back(of_rank[i]);
      all.push_back(of_rank[i]);
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) check_own(by_input[i], inputs[i], rank_, "all_gather_coalesced");
  return start({c10d::OpType::ALLGATHER_COALESCED, "ringtree:all_gather", opts.timeout, is_async(opts)}, all, inputs,
               [this, by_input, inputs](rtComm_t comm) {
                 for (size_t i = 0; i < inputs.size(); ++i) gather_list(by_input[i], inputs[i], rank_, comm);
               });
}

WorkPtr Backend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                 const c10d::AllgatherOptions& opts) {
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), "ringtree: all_gather_into_tensor_coalesced: ", outputs.size(),
                    " outputs for ", inputs.size(), " inputs");
  for (size_t i = 0; i < outputs.size(); ++i) check_into(outputs[i], inputs[i], size_, "all_gather_into_tensor");
  return start({c10d::OpType::COALESCED, "ringtree:all_gather_into_tensor_coalesced", opts.timeout, is_async(opts)},
               outputs, inputs, [this, outputs, inputs](rtComm_t comm) {
                 for (size_t i = 0; i < outputs.size(); ++i) gather_into(outputs[i], inputs[i], rank_, comm);
               });
}

Tensors Backend::list_of_root(const TensorLists& lists, const at::Tensor& own, int64_t root, const char* what,
                              const char* side) const {
  check_root(root);
  TORCH_CHECK_VALUE(root == rank_ || lists.empty(), "ringtree: ", what, ": requires empty ", side, " on non-root");
  if (root != rank_) return {};
  check_lists(lists, what);
  check_even(lists.front(), own, what);
  return lists.front();
}

WorkPtr Backend::gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& opts) {
  at::Tensor input = only(inputs, "gather");
  Tensors list = list_of_root(outputs, input, opts.rootRank, "gather", "output");
  return start({c10d::OpType::GATHER, "ringtree:gather", opts.timeout, is_async(opts)}, list, inputs,
               [list, input, root = static_cast<int>(opts.rootRank)](rtComm_t comm) {
                 const size_t count = static_cast<size_t>(input.numel());
                 if (list.empty()) {
                   const at::Tensor from = input.contiguous();
                   check(rtGather(from.data_ptr(), nullptr, count, datatype_of(input), root, comm), comm);
                   return;
                 }
                 const Pack pack(list, Output::Content::kIgnored);
                 const void* const own = block_at(pack.data(), static_cast<size_t>(root) * input.nbytes());
                 const at::Tensor from = apart(input, {pack.data(), pack.tensor().nbytes()}, own);
                 check(rtGather(from.data_ptr(), pack.data(), count, datatype_of(input), root, comm), comm);
                 pack.finish();
               });
}

WorkPtr Backend::gather_single(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& opts) {
  check_root(opts.rootRank);
  check_dense(input, "gather_single");
  const int root = static_cast<int>(opts.rootRank);
  if (root == rank_) check_into(output, input, size_, "gather_single");
  return start({c10d::OpType::GATHER, "ringtree:gather", opts.timeout, is_async(opts)}, {output}, {input},
               [this, output, input, root](rtComm_t comm) {
                 const size_t count = static_cast<size_t>(input.numel());
                 const Output result(output, Output::Content::kIgnored);
                 const void* const own = block_at(result.data(), static_cast<size_t>(root) * input.nbytes());
                 const at::Tensor from = apart(input, {result.data(), output.nbytes()}, own);
                 void* const written = root == rank_ ? result.data() : nullptr;
                 check(rtGather(from.data_ptr(), written, count, datatype_of(input), root, comm), comm);
                 if (root == rank_) result.finish();
               });
}

WorkPtr Backend::scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& opts) {
  at::Tensor output = only(outputs, "scatter");
  Tensors list = list_of_root(inputs, output, opts.rootRank, "scatter", "input");
  return start({c10d::OpType::SCATTER, "ringtree:scatter", opts.timeout, is_async(opts)}, outputs, list,
               [list, output, root = static_cast<int>(opts.rootRank)](rtComm_t comm) {
                 const Output result(output, Output::Content::kIgnored);
                 const rtDataType_t datatype = datatype_of(output);
                 if (list.empty()) {
                   check(rtScatter(nullptr, result.data(), result.count(), datatype, root, comm), comm);
                 } else {
                   const Pack pack(list, Output::Content::kNeeded);
                   const size_t before = static_cast<size_t>(root) * output.nbytes();
                   const at::Tensor from = apart_of_blocks(pack.tensor(), result, before);
                   check(rtScatter(from.data_ptr(), result.data(), result.count(), datatype, root, comm), comm);
                 }
                 result.finish();
               });
}

// Both kinds make the uneven call: whether the blocks of all ranks are alike no rank can tell.
WorkPtr Backend::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                               std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& opts) {
  check_alike({output, input}, "all_to_all_single");
  const auto sent = split_counts(input, input_splits, size_, "input");
  const auto got = split_counts(output, output_splits, size_, "output");
  return start({c10d::OpType::ALLTOALL_BASE, "ringtree:all_to_all", opts.timeout, is_async(opts)}, {output}, {input},
               [output, input, sent, got](rtComm_t comm) {
                 const Output result(output, Output::Content::kIgnored);
                 const at::Tensor from = apart(input, {result.data(), output.nbytes()}, nullptr);
                 const rtDataType_t datatype = datatype_of(input);
                 check(rtAlltoAllV(from.data_ptr(), sent.data(), result.data(), got.data(), datatype, comm), comm);
                 result.finish();
               });
}

WorkPtr Backend::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) {
  check_alike(inputs, "all_to_all");
  check_alike(outputs, "all_to_all");
  TORCH_CHECK_VALUE(inputs.size() == size() && outputs.size() == size(), "ringtree: all_to_all: lists of ",
                    inputs.size(), " and ", outputs.size(), " tensors for ", size_, " ranks");
  TORCH_CHECK_VALUE(inputs.front().scalar_type() == outputs.front().scalar_type(), "ringtree: all_to_all: inputs are ",
                    inputs.front().scalar_type(), ", outputs ", outputs.front().scalar_type());
  return start({c10d::OpType::ALLTOALL, "ringtree:all_to_all", opts.timeout, is_async(opts)}, outputs, inputs,
               [outputs, inputs](rtComm_t comm) {
                 const Pack pack(inputs, Output::Content::kNeeded);
                 const Pack result(outputs, Output::Content::kIgnored);
                 const at::Tensor from = apart(pack.tensor(), {result.data(), result.tensor().nbytes()}, nullptr);
                 check(rtAlltoAllV(from.data_ptr(), pack.counts().data(), result.data(), result.counts().data(),
                                   datatype_of(inputs.front()), comm),
                       comm);
                 result.finish();
               });
}

}  // namespace ringtree_torch
