// See library.h.
#include "library.h"

#include <c10/util/Exception.h>

namespace ringtree_torch {
namespace {

double factor_of(const c10d::ReduceOp& op) {
  const auto* const supplement = dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK_VALUE(supplement, "PREMUL_SUM needs a factor: torch.distributed._make_nccl_premul_sum(factor)");
  return supplement->tensor_factor.defined() ? supplement->tensor_factor.item<double>() : supplement->double_factor;
}

}  // namespace

std::exception_ptr exception_of(rtResult_t result, const std::string& text) {
  const c10::SourceLocation here{__func__, __FILE__, static_cast<uint32_t>(__LINE__)};
  switch (result) {
    case rtSuccess:
      return nullptr;
    case rtInvalidArgument:
    case rtInvalidUsage:
      return std::make_exception_ptr(c10::ValueError(here, "ringtree: " + text));
    case rtTimeout:  // in the words by which PyTorch's users search their logs
      return std::make_exception_ptr(c10::DistBackendError(here, "ringtree: Timed out waiting: " + text));
    default:
      return std::make_exception_ptr(c10::DistBackendError(here, "ringtree: " + text));
  }
}

void check(rtResult_t result, rtComm_t comm) {
  if (result == rtSuccess) return;
  std::string text = rtGetLastError(nullptr);
  if (text.empty() && comm) text = rtGetLastError(comm);
  std::rethrow_exception(exception_of(result, text.empty() ? rtGetErrorString(result) : text));
}

rtDataType_t datatype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kBool:
      return rtBool;
    case at::kChar:
      return rtInt8;
    case at::kByte:
      return rtUint8;
    case at::kShort:
      return rtInt16;
    case at::kUInt16:
      return rtUint16;
    case at::kInt:
      return rtInt32;
    case at::kUInt32:
      return rtUint32;
    case at::kLong:
      return rtInt64;
    case at::kUInt64:
      return rtUint64;
    case at::kHalf:
      return rtFloat16;
    case at::kBFloat16:
      return rtBfloat16;
    case at::kFloat:
      return rtFloat32;
    case at::kDouble:
      return rtFloat64;
    case at::kComplexHalf:
      return rtComplex32;
    case at::kComplexFloat:
      return rtComplex64;
    case at::kComplexDouble:
      return rtComplex128;
    case at::kFloat8_e4m3fn:
      return rtFloat8E4m3fn;
    case at::kFloat8_e5m2:
      return rtFloat8E5m2;
    case at::kFloat8_e4m3fnuz:
      return rtFloat8E4m3fnuz;
    case at::kFloat8_e5m2fnuz:
      return rtFloat8E5m2fnuz;
    default:
      C10_THROW_ERROR(TypeError, std::string("ringtree moves no tensors of ") + c10::toString(tensor.scalar_type()));
  }
}

Op::Op(const c10d::ReduceOp& op, rtComm_t comm) {
  switch (op.op_) {
    case c10d::ReduceOp::SUM:
      op_ = rtSum;
      return;
    case c10d::ReduceOp::AVG:
      op_ = rtAvg;
      return;
    case c10d::ReduceOp::PRODUCT:
      op_ = rtProd;
      return;
    case c10d::ReduceOp::MIN:
      op_ = rtMin;
      return;
    case c10d::ReduceOp::MAX:
      op_ = rtMax;
      return;
    case c10d::ReduceOp::BAND:
      op_ = rtBand;
      return;
    case c10d::ReduceOp::BOR:
      op_ = rtBor;
      return;
    case c10d::ReduceOp::BXOR:
      op_ = rtBxor;
      return;
    case c10d::ReduceOp::PREMUL_SUM:
      check(rtRedOpCreatePreMulSum(&op_, factor_of(op), comm), comm);
      made_in_ = comm;
      return;
    default:
      TORCH_CHECK_VALUE(false, "ringtree does not know this ReduceOp");
  }
}

Op::~Op() {
  if (made_in_) rtRedOpDestroy(op_, made_in_);  // it is there: nothing can go wrong
}

}  // namespace ringtree_torch
