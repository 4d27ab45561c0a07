// all_reduce of sparse tensors: everybody gathers everybody's indices and values and adds them up, in the order of
// ranks, so that all get the same bits. See backend.h.
#include "backend.h"

namespace ringtree_torch {
namespace {

constexpr int64_t kNone = -1;

// Everybody's elements of a vector, behind one another. `counts`: of each rank.
at::Tensor gather_vectors(const at::Tensor& own, const std::vector<size_t>& counts, rtComm_t comm) {
  size_t total = 0;
  for (const size_t count : counts) total += count;
  const at::Tensor from = own.contiguous();
  at::Tensor all = at::empty({static_cast<int64_t>(total)}, from.options());
  check(rtAllGatherV(from.data_ptr(), all.data_ptr(), counts.data(), datatype_of(from), comm), comm);
  return all;
}

// What must be alike on all ranks, and how many elements each has. Throws ValueError if it is not.
std::vector<int64_t> agree(const at::Tensor& sparse, size_t size, rtComm_t comm) {
  constexpr size_t kDims = 8, kWords = kDims + 3;  // sizes, then the dimensions' kinds, then the number of elements
  TORCH_CHECK_VALUE(sparse.dim() <= static_cast<int64_t>(kDims), "ringtree: a sparse all_reduce takes at most ", kDims,
                    " dimensions");
  std::vector<int64_t> mine(kWords, kNone), all(kWords * size);
  std::copy(sparse.sizes().begin(), sparse.sizes().end(), mine.begin());
  mine[kDims] = sparse.sparse_dim();
  mine[kDims + 1] = sparse.dense_dim();
  mine[kDims + 2] = sparse._nnz();
  check(rtAllGather(mine.data(), all.data(), kWords, rtInt64, comm), comm);
  std::vector<int64_t> numbers;
  for (size_t rank = 0; rank < size; ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * kWords);
    TORCH_CHECK_VALUE(std::equal(begin, begin + kDims + 2, mine.begin()),
                      "ringtree: all_reduce: the sparse tensor of rank ", rank,
                      " of the group has other sizes or other sparse dimensions");
    numbers.push_back(begin[kDims + 2]);
  }
  return numbers;
}

at::Tensor sum_of_all(const at::Tensor& input, size_t size, rtComm_t comm) {
  const at::Tensor own = input.coalesce();
  const std::vector<int64_t> numbers = agree(own, size, comm);
  const int64_t sparse_dim = own.sparse_dim();
  const at::Tensor values = own.values();
  const int64_t width =
      values.numel() == 0 ? at::empty(values.sizes().slice(1), at::kByte).numel() : values.numel() / values.size(0);
  std::vector<size_t> index_counts, value_counts;
  for (const int64_t number : numbers) {
    index_counts.push_back(static_cast<size_t>(number * sparse_dim));
    value_counts.push_back(static_cast<size_t>(number * width));
  }
  const at::Tensor all_indices = gather_vectors(own.indices().reshape({-1}), index_counts, comm);
  const at::Tensor all_values = gather_vectors(values.reshape({-1}), value_counts, comm);
  at::Tensor sum;
  int64_t at_index = 0, at_value = 0;
  for (const int64_t number : numbers) {
    std::vector<int64_t> shape = values.sizes().vec();
    shape[0] = number;
    const at::Tensor of_rank =
        at::sparse_coo_tensor(all_indices.narrow(0, at_index, number * sparse_dim).view({sparse_dim, number}),
                              all_values.narrow(0, at_value, number * width).view(shape), own.sizes(), own.options());
    sum = sum.defined() ? sum + of_rank : of_rank;
    at_index += number * sparse_dim;
    at_value += number * width;
  }
  return sum.coalesce();
}

}  // namespace

WorkPtr Backend::allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  TORCH_CHECK_VALUE(tensors.size() == 1 && tensors.front().is_sparse() && tensors.front().device().is_cpu(),
                    "ringtree: a sparse all_reduce takes one sparse CPU tensor");
  TORCH_CHECK_VALUE(opts.reduceOp.op_ == c10d::ReduceOp::SUM, "ringtree: a sparse all_reduce only sums");
  at::Tensor tensor = tensors.front();
  return start({c10d::OpType::_ALLREDUCE_SPARSE, "ringtree:sparse_all_reduce", opts.timeout, is_async(opts)}, tensors,
               tensors, [this, tensor](rtComm_t comm) mutable { tensor.copy_(sum_of_all(tensor, size(), comm)); });
}

}  // namespace ringtree_torch
