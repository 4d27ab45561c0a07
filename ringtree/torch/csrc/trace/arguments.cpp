// See arguments.h.
#include "arguments.h"

#include <c10/util/Exception.h>

namespace ringtree_torch {
namespace {

/// Bytes of tensors that have one role.
struct Side {
  int64_t bytes = 0;
  int32_t num_tensors = 0;
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // of the first, as is the device
  c10::DeviceType device = c10::DeviceType::CPU;

  void add(const at::Tensor& tensor) {
    if (!tensor.defined()) return;
    bytes += tensor.numel() * static_cast<int64_t>(tensor.element_size());
    if (num_tensors++ > 0) return;
    dtype = tensor.scalar_type();
    device = tensor.device().type();
  }

  /// A tensor, a list of tensors, or a list of such lists.
  void add(const c10::IValue& value) {
    if (value.isTensor()) return add(value.toTensor());
    if (value.isNone()) return;
    for (const c10::IValue& one : value.toListRef()) add(one);
  }
};

}  // namespace

ReadCall read_arguments(const TracedOperator& op, const c10::Stack& stack) {
  const size_t count = op.roles.size();
  TORCH_CHECK(stack.size() >= count, "c10d::", op.name, " has fewer arguments than its schema");
  const c10::IValue* arguments = stack.data() + (stack.size() - count);
  ReadCall found;
  Side sides[3];
  for (size_t i = 0; i < count; ++i) {
    if (op.roles[i] == Role::kOther) continue;
    if (op.roles[i] == Role::kProcessGroup) {
      found.group = arguments[i].toCustomClass<c10d::ProcessGroup>();
    } else {
      sides[static_cast<size_t>(op.roles[i])].add(arguments[i]);
    }
  }
  TORCH_CHECK(found.group, "c10d::", op.name, " was called without a process group");
  const auto& [gives, gets, both] = sides;
  const Side& first = gives.num_tensors > 0 ? gives : both.num_tensors > 0 ? both : gets;
  TracedCall& call = found.call;
  call.num_tensors = first.num_tensors;
  call.device = first.device;
  if (op.is_barrier()) return found;
  call.dtype = first.dtype;
  call.in_bytes = gives.bytes + both.bytes;
  call.out_bytes = gets.bytes + both.bytes;
  return found;
}

}  // namespace ringtree_torch
