// DLPack's C structures, as far as they are read here: what a tensor is, and the functions by which a library shows its
// tensors to C without making capsules. After dlpack.h, version 1.3 (https://dmlc.github.io/dlpack/latest/c_api.html),
// whose layout is stable within a major version. Not for capsules, which nanobind reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/dtype.h"

namespace ringtree::bindings::dlpack {

inline constexpr int32_t kCpu = 1;
inline constexpr uint32_t kMajorVersion = 1;
inline constexpr const char* kExchangeAttribute = "__dlpack_c_exchange_api__";
inline constexpr const char* kExchangeCapsule = "dlpack_exchange_api";

/// DLDataType.
struct DataType {
  uint8_t code = 0;
  uint8_t bits = 0;
  uint16_t lanes = 0;
};

/// DLTensor. Strides count elements.
struct Tensor {
  void* data = nullptr;
  int32_t device_type = 0, device_id = 0;
  int32_t ndim = 0;
  DataType dtype;
  const int64_t* shape = nullptr;
  const int64_t* strides = nullptr;
  uint64_t byte_offset = 0;
};

/// DLPackDLTensorFromPyObjectNoSync: fills `out`, which is valid while the object is not touched. 0, or -1 with a
/// Python exception set.
using ViewObject = int (*)(void* object, Tensor* out);

/// DLPackExchangeAPI. It lives as long as the process.
struct ExchangeApi {
  uint32_t major = 0, minor = 0;
  ExchangeApi* older = nullptr;
  void (*allocate)() = nullptr;  // the signatures of those that are not called are left out
  void (*from_object)() = nullptr;
  void (*to_object)() = nullptr;
  ViewObject view_object = nullptr;  // may be null
  void (*current_stream)() = nullptr;
};

/// The dtype of ringtree's, if it has that one.
std::optional<Dtype> dtype_of(DataType type);

/// Whether the elements lie side by side in the order of their indices.
bool is_contiguous(size_t ndim, const int64_t* shape, const int64_t* strides);

/// Elements of all dimensions together.
size_t num_elements(size_t ndim, const int64_t* shape);

}  // namespace ringtree::bindings::dlpack
