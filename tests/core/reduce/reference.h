// The slow obvious version of core/reduce/kernels.h, one element at a time, to compare with. Never optimised. It shares
// no code with the kernels: narrow floats are decoded and rounded by their definition (ldexp, nearest of the two
// neighbouring codes), integers by way of 64 bits, bits and truth values are counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"
#include "core/base/reduce_op.h"

namespace ringtree {

/// The value of one narrow float (float16, bfloat16, float8_* but not e8m0fnu), given by its bits.
double reference_decode(Dtype dtype, uint32_t bits);

/// The bits of the narrow float nearest to `value`, ties to the even code; NaN and overflow as kernels.h states.
uint32_t reference_encode(Dtype dtype, double value);

/// True where the op is defined for the dtype.
bool reference_defined(Dtype dtype, ReduceOp op);

/// As a FoldKernel, for op; `out` may be one of the inputs.
void reference_fold(Dtype dtype, ReduceOp op, void* out, const void* const* in, int num_in, size_t count);

/// As a FinishKernel, for avg.
void reference_finish(Dtype dtype, void* data, size_t count, int64_t num_ranks);

/// As a ScaleKernel, for premul_sum; `out` may be `in`.
void reference_scale(Dtype dtype, void* out, const void* in, size_t count, double factor);

}  // namespace ringtree
