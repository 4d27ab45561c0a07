// See staging.h.
#include "staging.h"

#include <algorithm>

namespace ringtree_torch {
namespace {

// The memory that they fill without gaps, as one tensor; undefined if they do not.
at::Tensor side_by_side(const std::vector<at::Tensor>& tensors, int64_t total) {
  const auto* next = static_cast<const char*>(tensors.front().data_ptr());
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.is_contiguous() || !tensor.storage().is_alias_of(tensors.front().storage()) ||
        tensor.data_ptr() != next)
      return {};
    next += tensor.nbytes();
  }
  return at::from_blob(tensors.front().data_ptr(), {total}, tensors.front().options().requires_grad(false));
}

}  // namespace

void check_dense(const at::Tensor& tensor, const char* what) {
  TORCH_CHECK_VALUE(tensor.defined(), "ringtree: ", what, " is not a tensor");
  TORCH_CHECK_VALUE(tensor.device().is_cpu(), "ringtree: ", what, " lies on ", tensor.device(),
                    "; this backend is for the CPU (\"cpu:ringtree,cuda:nccl\" has one for each)");
  TORCH_CHECK_VALUE(tensor.layout() == at::kStrided, "ringtree: ", what, " is ", tensor.layout(),
                    ": only all_reduce takes sparse tensors");
}

void check_alike(const std::vector<at::Tensor>& tensors, const char* what) {
  TORCH_CHECK_VALUE(!tensors.empty(), "ringtree: ", what, ": requires non-empty tensor list");
  for (const at::Tensor& tensor : tensors) {
    check_dense(tensor, what);
    TORCH_CHECK_VALUE(tensor.scalar_type() == tensors.front().scalar_type(), "ringtree: ", what, " has both ",
                      tensors.front().scalar_type(), " and ", tensor.scalar_type());
  }
}

at::Tensor& only(std::vector<at::Tensor>& tensors, const char* what) {
  TORCH_CHECK_VALUE(tensors.size() == 1, "ringtree: ", what, " takes a list of one tensor, not of ", tensors.size());
  check_dense(tensors.front(), what);
  return tensors.front();
}

at::Tensor apart(const at::Tensor& input, Place written, const void* own) {
  at::Tensor plain = input.contiguous();
  const auto in = reinterpret_cast<uintptr_t>(plain.data_ptr()), out = reinterpret_cast<uintptr_t>(written.begin);
  const bool shared = plain.nbytes() > 0 && in < out + written.bytes && out < in + plain.nbytes();
  return shared && plain.data_ptr() != own ? plain.clone() : plain;
}

Output::Output(at::Tensor user, Content content) : user_(std::move(user)) {
  if (user_.is_contiguous()) {
    plain_ = user_;
  } else if (content == Content::kNeeded) {
    plain_ = user_.contiguous();
  } else {
    plain_ = at::empty(user_.sizes(), user_.options().memory_format(at::MemoryFormat::Contiguous));
  }
}

void Output::finish() const {
  if (!plain_.is_same(user_)) user_.copy_(plain_);
}

at::Tensor apart_of_blocks(const at::Tensor& blocks, const Output& result, size_t before) {
  const at::Tensor plain = blocks.contiguous();
  const bool in_place = static_cast<const char*>(plain.data_ptr()) + before == result.data();
  return apart(plain, {result.data(), result.tensor().nbytes()}, in_place ? plain.data_ptr() : nullptr);
}

Pack::Pack(std::vector<at::Tensor> tensors, Output::Content content) : tensors_(std::move(tensors)) {
  int64_t total = 0;
  for (const at::Tensor& tensor : tensors_) {
    counts_.push_back(static_cast<size_t>(tensor.numel()));
    total += tensor.numel();
  }
  flat_ = side_by_side(tensors_, total);
  in_place_ = flat_.defined();
  if (in_place_) return;
  flat_ = at::empty({total}, at::TensorOptions().dtype(tensors_.front().scalar_type()));
  if (content == Output::Content::kIgnored) return;
  int64_t at = 0;
  for (const at::Tensor& tensor : tensors_) {
    flat_.narrow(0, at, tensor.numel()).view(tensor.sizes()).copy_(tensor);
    at += tensor.numel();
  }
}

bool Pack::even() const {
  return std::all_of(counts_.begin(), counts_.end(), [this](size_t count) { return count == counts_.front(); });
}

void Pack::finish() const {
  if (in_place_) return;
  int64_t at = 0;
  for (const at::Tensor& tensor : tensors_) {
    tensor.copy_(flat_.narrow(0, at, tensor.numel()).view(tensor.sizes()));
    at += tensor.numel();
  }
}

}  // namespace ringtree_torch
