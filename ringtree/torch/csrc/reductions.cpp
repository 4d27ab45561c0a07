// all_reduce, reduce and reduce_scatter of the backend. See backend.h.
#include "backend.h"

namespace ringtree_torch {
namespace {

// Many small tensors cost less as one: so many bytes take about as long to copy as a call takes to begin.
constexpr size_t kPackBytes = 256 * 1024;

void reduce_all(const Output& output, const c10d::ReduceOp& reduce_op, rtComm_t comm) {
  const Op op(reduce_op, comm);
  check(rtAllReduce(output.data(), output.data(), output.count(), datatype_of(output.tensor()), op.value(), comm),
        comm);
}

}  // namespace

WorkPtr Backend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  if (tensors.size() == 1 && tensors.front().is_sparse()) return allreduce_sparse(tensors, opts);
  at::Tensor tensor = only(tensors, "all_reduce");
  return start({c10d::OpType::ALLREDUCE, "ringtree:all_reduce", opts.timeout, is_async(opts)}, tensors, tensors,
               [tensor, op = opts.reduceOp](rtComm_t comm) {
                 const Output output(tensor, Output::Content::kNeeded);
                 reduce_all(output, op, comm);
                 output.finish();
               });
}

WorkPtr Backend::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) {
  check_alike(tensors, "all_reduce_coalesced");
  return start({c10d::OpType::ALLREDUCE_COALESCED, "ringtree:all_reduce", opts.timeout, is_async(opts)}, tensors,
               tensors, [tensors, op = opts.reduceOp](rtComm_t comm) {
                 size_t bytes = 0;
                 for (const at::Tensor& tensor : tensors) bytes += tensor.nbytes();
                 if (bytes <= kPackBytes) {
                   const Pack pack(tensors, Output::Content::kNeeded);
                   reduce_all(Output(pack.tensor(), Output::Content::kNeeded), op, comm);
                   pack.finish();
                   return;
                 }
                 for (const at::Tensor& tensor : tensors) {
                   const Output output(tensor, Output::Content::kNeeded);
                   reduce_all(output, op, comm);
                   output.finish();
                 }
               });
}

WorkPtr Backend::reduce(Tensors& tensors, const c10d::ReduceOptions& opts) {
  at::Tensor tensor = only(tensors, "reduce");
  check_root(opts.rootRank);
  return start({c10d::OpType::REDUCE, "ringtree:reduce", opts.timeout, is_async(opts)}, tensors, tensors,
               [this, tensor, reduce_op = opts.reduceOp, root = static_cast<int>(opts.rootRank)](rtComm_t comm) {
                 const Op op(reduce_op, comm);
                 const rtDataType_t datatype = datatype_of(tensor);
                 if (root != rank_) {
                   const at::Tensor input = tensor.contiguous();
                   check(rtReduce(input.data_ptr(), nullptr, static_cast<size_t>(input.numel()), datatype, op.value(),
                                  root, comm),
                         comm);
                   return;
                 }
                 const Output output(tensor, Output::Content::kNeeded);
                 check(rtReduce(output.data(), output.data(), output.count(), datatype, op.value(), root, comm), comm);
                 output.finish();
               });
}

WorkPtr Backend::reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& opts) {
  at::Tensor output = only(outputs, "reduce_scatter");
  check_lists(inputs, "reduce_scatter");
  const at::Tensor& own = inputs.front()[static_cast<size_t>(rank_)];
  TORCH_CHECK_VALUE(own.numel() == output.numel() && own.scalar_type() == output.scalar_type(),
                    "ringtree: reduce_scatter: the output is not like this rank's tensor of the input list");
  return start(
      {c10d::OpType::REDUCE_SCATTER, "ringtree:reduce_scatter", opts.timeout, is_async(opts)}, outputs, inputs.front(),
      [this, output, list = inputs.front(), reduce_op = opts.reduceOp](rtComm_t comm) {
        const Op op(reduce_op, comm);
        const Pack input(list, Output::Content::kNeeded);
        const Output result(output, Output::Content::kIgnored);
        size_t before = 0;
        for (int peer = 0; peer < rank_; ++peer) before += list[static_cast<size_t>(peer)].nbytes();
        const at::Tensor from = apart_of_blocks(input.tensor(), result, before);
        const rtDataType_t datatype = datatype_of(output);
        check(input.even()
                  ? rtReduceScatter(from.data_ptr(), result.data(), result.count(), datatype, op.value(), comm)
                  : rtReduceScatterV(from.data_ptr(), result.data(), input.counts().data(), datatype, op.value(), comm),
              comm);
        result.finish();
      });
}

namespace {

void scatter_base(const at::Tensor& output, const at::Tensor& input, const c10d::ReduceOp& reduce_op, int rank,
                  rtComm_t comm) {
  const Op op(reduce_op, comm);
  const Output result(output, Output::Content::kIgnored);
  const at::Tensor from = apart_of_blocks(input, result, static_cast<size_t>(rank) * output.nbytes());
  check(rtReduceScatter(from.data_ptr(), result.data(), result.count(), datatype_of(output), op.value(), comm), comm);
  result.finish();
}

void check_base(const at::Tensor& output, const at::Tensor& input, int64_t size) {
  check_alike({output, input}, "reduce_scatter_tensor");
  TORCH_CHECK_VALUE(input.numel() == output.numel() * size,
                    "ringtree: reduce_scatter_tensor: input tensor must be the same size as output size times world "
                    "size: ",
                    input.numel(), " elements for ", size, " times ", output.numel());
}

}  // namespace

WorkPtr Backend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& opts) {
  check_base(output, input, size_);
  return start({c10d::OpType::_REDUCE_SCATTER_BASE, "ringtree:_reduce_scatter_base", opts.timeout, is_async(opts)},
               {output}, {input}, [this, output, input, op = opts.reduceOp](rtComm_t comm) {
                 scatter_base(output, input, op, rank_, comm);
               });
}

WorkPtr Backend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                 const c10d::ReduceScatterOptions& opts) {
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), "ringtree: reduce_scatter_tensor_coalesced: ", outputs.size(),
                    " outputs for ", inputs.size(), " inputs");
  for (size_t i = 0; i < outputs.size(); ++i) check_base(outputs[i], inputs[i], size_);
  return start({c10d::OpType::COALESCED, "ringtree:reduce_scatter_tensor_coalesced", opts.timeout, is_async(opts)},
               outputs, inputs, [this, outputs, inputs, op = opts.reduceOp](rtComm_t comm) {
                 for (size_t i = 0; i < outputs.size(); ++i) scatter_base(outputs[i], inputs[i], op, rank_, comm);
               });
}

}  // namespace ringtree_torch
