// Records as NumPy takes them: the bytes of a whole array of them, and where in each its fields lie. A structured array
// is made of both in Python.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace ringtree::bindings {

using Field = std::tuple<std::string, std::string, size_t>;  // name, NumPy's format, offset
using RecordBytes = nanobind::ndarray<nanobind::numpy, uint8_t, nanobind::ndim<1>>;

/// A copy, which Python owns.
template <class Record>
RecordBytes record_bytes(const std::vector<Record>& records) {
  static_assert(std::is_trivially_copyable_v<Record>);
  const size_t num_bytes = records.size() * sizeof(Record);
  auto copy = std::make_unique<uint8_t[]>(num_bytes);
  if (num_bytes > 0) std::memcpy(copy.get(), records.data(), num_bytes);
  uint8_t* const data = copy.get();
  const nanobind::capsule keeper(copy.release(), [](void* kept) noexcept { delete[] static_cast<uint8_t*>(kept); });
  return RecordBytes(data, {num_bytes}, keeper);
}

}  // namespace ringtree::bindings
