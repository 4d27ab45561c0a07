// The memory of DDP's gradient buckets, which its reducer asks the backend for: memory that the other ranks of the host
// map, so that gradients are read where they lie and sums are written there (docs/decisions/0032). The engine tells the
// others of a bucket when it is first reduced; nothing here waits for them.
//
// Not for: other tensors, or ranks of other hosts, to whom the same bucket goes as any tensor does.
#pragma once

#include <ATen/ATen.h>

namespace ringtree_torch {

/// `size` elements. Ordinary memory where a bucket is too small to gain, is not the CPU's, or where there is no more
/// memory to share, which is warned of once.
at::Tensor make_bucket(int64_t size, const at::TensorOptions& options);

}  // namespace ringtree_torch
