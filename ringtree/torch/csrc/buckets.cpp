// See buckets.h.
#include "buckets.h"

#include <c10/util/Exception.h>
#include <ringtree.h>

namespace ringtree_torch {
namespace {

// Each bucket is a mapping on every rank and a descriptor on its own. Smaller ones are one slice a rank, which is
// never answered in place.
constexpr size_t kSharedBytes = 256 * 1024;

}  // namespace

at::Tensor make_bucket(int64_t size, const at::TensorOptions& options) {
  const size_t bytes = static_cast<size_t>(size) * options.dtype().itemsize();
  if (!options.device().is_cpu() || bytes < kSharedBytes) return at::empty({size}, options);
  void* memory = nullptr;
  if (rtMemAlloc(&memory, bytes) != rtSuccess) {
    TORCH_WARN_ONCE("ringtree: a gradient bucket lies in ordinary memory: ", rtGetLastError(nullptr));
    return at::empty({size}, options);
  }
  // May outlive the group: the memory is not the group's.
  return at::from_blob(memory, {size}, [](void* mine) { rtMemFree(mine); }, options);
}

}  // namespace ringtree_torch
