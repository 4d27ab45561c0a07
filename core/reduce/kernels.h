// The elementwise kernels of the data path: fold several vectors into one, and divide by the number of ranks for avg.
// Not here: who calls them on which slice (core/engine), and which bytes travel (core/schedule).
//
// A kernel is looked up once, when a call is planned; it neither allocates, throws, locks nor logs, and any number of
// threads may run it at once on different outputs. Looking up picks the fastest code that this processor can run; all
// variants give the same bits, except for the sign and payload of NaNs, which are unspecified throughout.
//
// What the ops compute:
//   integers   sum and prod wrap (two's complement); avg divides the wrapped sum, truncating towards zero.
//   bool       any non-zero byte is true, results are 0 or 1; sum and max are or, prod and min are and; no avg.
//   floats     folded from left to right, no re-association, no fused multiply-add.
//   narrow floats (float16, bfloat16, float8_*, complex32)  widened to float32, the whole fold in float32, rounded
//   once,
//              to nearest even. Overflow as PyTorch (2.12 and later) converts: infinity where the format has one
//              (float16, bfloat16, float8_e5m2), the largest number for float8_e4m3fn (infinity too becomes it;
//              NaN stays NaN), NaN for the fnuz formats. avg rounds twice: after the sum and after the division.
//   complex    sum, prod, avg only; (a+bi)(c+di) = (ac-bd) + (ad+bc)i as written, without C's special cases for
//   infinities. min, max   a NaN at any position makes the result NaN. -0 and +0 are equal: the zero of the earliest
//   input stays. float8_e8m0fnu  nothing is defined: it can be moved, not reduced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/dtype.h"
#include "core/base/reduce_op.h"

namespace ringtree {

/// out[i] = in[0][i] op in[1][i] op ... for i < count (elements, not bytes), from left to right; num_in >= 2.
/// `out` may be exactly one of the inputs but must not overlap one partly; no alignment is assumed.
using FoldKernel = void (*)(void* out, const void* const* in, int num_in, size_t count);

/// Divides data[0..count) by num_ranks >= 1 in place: what avg does after the last fold. No alignment is assumed.
using FinishKernel = void (*)(void* data, size_t count, int64_t num_ranks);

/// The fold of op on dtype (avg folds like sum), or nullptr where op is not defined for dtype.
FoldKernel fold_kernel(Dtype dtype, ReduceOp op);

/// The division of avg; nullptr for every other op (nothing to finish) and where avg is not defined for dtype.
FinishKernel finish_kernel(Dtype dtype, ReduceOp op);

/// "min is not defined for complex64" and what is, for an error message; empty where fold_kernel gives a kernel.
std::string why_undefined(Dtype dtype, ReduceOp op);

}  // namespace ringtree
