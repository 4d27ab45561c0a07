// See library.h.
#include "library.h"

#include <c10/util/Exception.h>

#include <utility>

namespace ringtree_torch {
namespace {

constexpr std::pair<at::ScalarType, rtDataType_t> kDatatypes[] = {
    {at::kBool, rtBool},
    {at::kChar, rtInt8},
    {at::kByte, rtUint8},
    {at::kShort, rtInt16},
    {at::kUInt16, rtUint16},
    {at::kInt, rtInt32},
    {at::kUInt32, rtUint32},
    {at::kLong, rtInt64},
    {at::kUInt64, rtUint64},
    {at::kHalf, rtFloat16},
    {at::kBFloat16, rtBfloat16},
    {at::kFloat, rtFloat32},
    {at::kDouble, rtFloat64},
    {at::kComplexHalf, rtComplex32},
    {at::kComplexFloat, rtComplex64},
    {at::kComplexDouble, rtComplex128},
    {at::kFloat8_e4m3fn, rtFloat8E4m3fn},
    {at::kFloat8_e5m2, rtFloat8E5m2},
    {at::kFloat8_e4m3fnuz, rtFloat8E4m3fnuz},
    {at::kFloat8_e5m2fnuz, rtFloat8E5m2fnuz},
};

constexpr std::pair<c10d::ReduceOp::RedOpType, rtRedOp_t> kOps[] = {
    {c10d::ReduceOp::SUM, rtSum}, {c10d::ReduceOp::AVG, rtAvg},   {c10d::ReduceOp::PRODUCT, rtProd},
    {c10d::ReduceOp::MIN, rtMin}, {c10d::ReduceOp::MAX, rtMax},   {c10d::ReduceOp::BAND, rtBand},
    {c10d::ReduceOp::BOR, rtBor}, {c10d::ReduceOp::BXOR, rtBxor},
};

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
  for (const auto& [theirs, ours] : kDatatypes)
    if (tensor.scalar_type() == theirs) return ours;
  C10_THROW_ERROR(TypeError, std::string("ringtree moves no tensors of ") + c10::toString(tensor.scalar_type()));
}

Op::Op(const c10d::ReduceOp& op, rtComm_t comm) {
  if (op.op_ == c10d::ReduceOp::PREMUL_SUM) {
    check(rtRedOpCreatePreMulSum(&op_, factor_of(op), comm), comm);
    made_in_ = comm;
    return;
  }
  for (const auto& [theirs, ours] : kOps)
    if (op.op_ == theirs) {
      op_ = ours;
      return;
    }
  TORCH_CHECK_VALUE(false, "ringtree does not know this ReduceOp");
}

Op::~Op() {
  if (made_in_) rtRedOpDestroy(op_, made_in_);  // it is there: nothing can go wrong
}

}  // namespace ringtree_torch
