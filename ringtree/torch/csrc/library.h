// What libringtree says, in PyTorch's words: results become exceptions, tensors' element types and ReduceOps become the
// library's. Not for calls: communicator.h makes them.
#pragma once

#include <ringtree.h>
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/Types.hpp>

namespace ringtree_torch {

/// Throws unless `result` is rtSuccess: DistBackendError for what ends a group (a rank that died, a deadline, a
/// mismatch, the machine), ValueError for what was asked wrongly, with the library's text. `comm` may be null.
void check(rtResult_t result, rtComm_t comm);

/// The exception that check() would throw, for a text that was told elsewhere.
std::exception_ptr exception_of(rtResult_t result, const std::string& text);

/// Throws TypeError for what no collective can move: quantized elements, elements of less than a byte.
rtDataType_t datatype_of(const at::Tensor& tensor);

/// An op that lives as long as a call: PREMUL_SUM makes one in the communicator, the others have a name. For the thread
/// that is in the call.
class Op {
 public:
  Op(const c10d::ReduceOp& op, rtComm_t comm);
  ~Op();
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  rtRedOp_t value() const { return op_; }

 private:
  rtComm_t made_in_ = nullptr;  // null: it has a name
  rtRedOp_t op_ = rtSum;
};

}  // namespace ringtree_torch
