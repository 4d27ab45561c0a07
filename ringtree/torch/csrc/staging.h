// Tensors as the library wants them, bytes side by side: what lies otherwise is copied, and results are copied back.
// Elements that are to be read conjugated or negated do not come here: PyTorch's dispatcher resolves them before.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace ringtree_torch {

/// Throws ValueError unless `tensor` is a dense CPU tensor. `what` says which one, for the text.
void check_dense(const at::Tensor& tensor, const char* what);
/// The same for each, and that all have one element type. Throws for an empty list too.
void check_alike(const std::vector<at::Tensor>& tensors, const char* what);
/// The one tensor of a list: PyTorch's interface has lists where there were several devices once.
at::Tensor& only(std::vector<at::Tensor>& tensors, const char* what);

/// Bytes that a call writes, of all ranks or of this one.
struct Place {
  const void* begin;
  size_t bytes;
};
/// What is read, side by side: `input`, or a copy where it shares memory with `written`. In place, where the first
/// bytes of both are the same or `own` is where `input` begins, it may stay: that is what the library knows.
at::Tensor apart(const at::Tensor& input, Place written, const void* own);

class Output;
/// The same for blocks of all ranks, of which this rank's own begins `before` bytes after the first and is where
/// `result` may lie.
at::Tensor apart_of_blocks(const at::Tensor& blocks, const Output& result, size_t before);

/// A tensor that is written, or read and written. Its elements are in tensor(); finish() brings them to where the user
/// wants them.
class Output {
 public:
  enum class Content { kNeeded, kIgnored };
  Output(at::Tensor user, Content content);
  void* data() const { return plain_.data_ptr(); }
  size_t count() const { return static_cast<size_t>(plain_.numel()); }
  const at::Tensor& tensor() const { return plain_; }
  void finish() const;

 private:
  at::Tensor user_, plain_;
};

/// Tensors one after another in one piece of memory. Where they already lie so, it is that memory.
class Pack {
 public:
  /// `content`: whether what they hold is to be there.
  Pack(std::vector<at::Tensor> tensors, Output::Content content);
  void* data() const { return flat_.data_ptr(); }
  /// The elements of each.
  const std::vector<size_t>& counts() const { return counts_; }
  size_t count() const { return static_cast<size_t>(flat_.numel()); }
  bool even() const;
  const at::Tensor& tensor() const { return flat_; }
  /// Writes back to the tensors.
  void finish() const;

 private:
  std::vector<at::Tensor> tensors_;
  std::vector<size_t> counts_;
  at::Tensor flat_;
  bool in_place_ = false;
};

}  // namespace ringtree_torch
