// See types.h.
#include "core/capi/types.h"

#include <string>

#include "core/capi/errors.h"

namespace ringtree::capi {
namespace {

constexpr bool same(rtDataType_t c, Dtype dtype) { return static_cast<int>(c) == static_cast<int>(dtype); }
constexpr bool same(rtRedOp_t c, ReduceOp op) { return static_cast<int>(c) == static_cast<int>(op); }

static_assert(same(rtBool, Dtype::kBool) && same(rtInt8, Dtype::kInt8) && same(rtUint8, Dtype::kUint8) &&
              same(rtInt16, Dtype::kInt16) && same(rtUint16, Dtype::kUint16) && same(rtInt32, Dtype::kInt32) &&
              same(rtUint32, Dtype::kUint32) && same(rtInt64, Dtype::kInt64) && same(rtUint64, Dtype::kUint64));
static_assert(same(rtFloat16, Dtype::kFloat16) && same(rtBfloat16, Dtype::kBfloat16) &&
              same(rtFloat32, Dtype::kFloat32) && same(rtFloat64, Dtype::kFloat64));
static_assert(same(rtComplex32, Dtype::kComplex32) && same(rtComplex64, Dtype::kComplex64) &&
              same(rtComplex128, Dtype::kComplex128));
static_assert(same(rtFloat8E4m3fn, Dtype::kFloat8E4m3fn) && same(rtFloat8E5m2, Dtype::kFloat8E5m2) &&
              same(rtFloat8E4m3fnuz, Dtype::kFloat8E4m3fnuz) && same(rtFloat8E5m2fnuz, Dtype::kFloat8E5m2fnuz) &&
              same(rtFloat8E8m0fnu, Dtype::kFloat8E8m0fnu));
static_assert(kNumDtypes == rtFloat8E8m0fnu + 1, "a dtype is missing in ringtree.h");

static_assert(same(rtSum, ReduceOp::sum) && same(rtProd, ReduceOp::prod) && same(rtMin, ReduceOp::min) &&
              same(rtMax, ReduceOp::max) && same(rtAvg, ReduceOp::avg));
static_assert(same(rtBand, ReduceOp::band) && same(rtBor, ReduceOp::bor) && same(rtBxor, ReduceOp::bxor) &&
              same(rtLand, ReduceOp::land) && same(rtLor, ReduceOp::lor) && same(rtLxor, ReduceOp::lxor));
static_assert(kNumReduceOps == rtLxor + 1, "an op is missing in ringtree.h");

}  // namespace

Dtype dtype_of(rtDataType_t datatype) {
  const auto number = static_cast<unsigned>(datatype);
  if (number >= static_cast<unsigned>(kNumDtypes)) refuse_argument("unknown datatype " + std::to_string(number));
  return static_cast<Dtype>(number);
}

bool is_named_op(rtRedOp_t number, ReduceOp& op) {
  const auto value = static_cast<unsigned>(number);
  if (value >= static_cast<unsigned>(kNumReduceOps)) return false;
  op = static_cast<ReduceOp>(value);
  return op != ReduceOp::premul_sum;  // needs a factor
}

}  // namespace ringtree::capi
