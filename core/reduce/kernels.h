// The elementwise kernels of the data path: fold several vectors into one, divide by the number of ranks for avg,
// multiply by a rank's factor for premul_sum.
// Not here: who calls them on which slice (core/engine), and which bytes travel (core/schedule).
//
// A kernel is looked up once, when a call is planned; it neither allocates, throws, locks nor logs, and any number of
// threads may run it at once on different outputs. Looking up picks the fastest code that this processor can run; all
// variants give the same bits, except for the sign and payload of NaNs, which are unspecified throughout.
//
// Which ops are defined, and what they compute:
//
// - integers: every op. sum, prod and premul_sum's products wrap (two's complement); avg divides the wrapped sum,
//   truncating towards zero.
// - bool: all but avg and premul_sum. Any non-zero byte is true, results are 0 or 1. sum, max, bor and lor are or;
//   prod, min, band and land are and; bxor and lxor are exclusive or.
// - floats: all but the bitwise band, bor and bxor. Folded from left to right, no re-association, no fused
// multiply-add.
// - narrow floats (float16, bfloat16, float8_*, complex32): widened to float32, the whole fold in float32, rounded
// once,
//   to nearest even. Overflow as PyTorch (2.12 and later) converts: infinity where the format has one (float16,
//   bfloat16, float8_e5m2), the largest number for float8_e4m3fn (infinity too becomes it; NaN stays NaN), NaN for the
//   fnuz formats. avg rounds twice: after the sum and after the division. So does premul_sum: after the multiplication
//   and after the sum.
// - complex: sum, prod, avg, premul_sum, land, lor, lxor. (a+bi)(c+di) = (ac-bd) + (ad+bc)i as written, without C's
//   special cases for infinities; the factor of premul_sum is real and multiplies each part.
// - float8_e8m0fnu: nothing. It can be moved, not reduced.
//
// - min, max: a NaN at any position makes the result NaN. -0 and +0 are equal: the zero of the earliest input stays.
// - avg: folds like sum; FinishKernel divides what the last fold gave.
// - premul_sum: folds like sum; ScaleKernel multiplies each rank's own input before the first fold.
// - land, lor, lxor: as C reads a number as a truth value, so that -0 is false, NaN is true, and a complex number is
// true
//   where either part is not 0. The result is 1 or 0 in the dtype (1 + 0i), and folding results again gives what
//   folding all inputs at once does; lxor is true where an odd number of inputs are. A lone rank folds nothing: its
//   values stay.
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

/// out[i] = in[i] * factor for i < count (elements, not bytes): what premul_sum does before the first fold.
/// `out` may be `in` but must not overlap it partly; no alignment is assumed. Only for a factor of which factor_fits is
/// true. It is rounded to the type that is calculated in (float32 for that and all narrower floats, float64; for
/// integers the dtype itself), and the product of each element is rounded once.
using ScaleKernel = void (*)(void* out, const void* in, size_t count, double factor);

/// The fold of op on dtype (avg and premul_sum fold like sum), or nullptr where op is not defined for dtype.
FoldKernel fold_kernel(Dtype dtype, ReduceOp op);

/// The division of avg; nullptr for every other op (nothing to finish) and where avg is not defined for dtype.
FinishKernel finish_kernel(Dtype dtype, ReduceOp op);

/// The multiplication of premul_sum; nullptr for every other op and where premul_sum is not defined for dtype.
ScaleKernel scale_kernel(Dtype dtype, ReduceOp op);

/// Whether a ScaleKernel of dtype takes the factor. Integers: a whole number that the dtype holds. Floats: any but a
/// finite number beyond what is calculated in (a float32 that would become infinite). False where premul_sum is not
/// defined for dtype.
bool factor_fits(Dtype dtype, double factor);

/// "min is not defined for complex64" and what is, for an error message; empty where fold_kernel gives a kernel.
std::string why_undefined(Dtype dtype, ReduceOp op);

}  // namespace ringtree
