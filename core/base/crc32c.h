// CRC-32C (Castagnoli; RFC 3720, appendix B.4): finds bytes that changed on the wire. A 32-bit burst is always found,
// an arbitrary change all but once in 2^32. Not against somebody who means it, who computes the new CRC as well:
// sha256.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringtree {

/// The CRC of `bytes` bytes at `data`, of any alignment, behind bytes whose CRC is `crc`:
/// crc32c(b, b_bytes, crc32c(a, a_bytes)) is that of a followed by b. 0 bytes may have a null pointer. Neither throws,
/// allocates nor locks.
uint32_t crc32c(const void* data, size_t bytes, uint32_t crc = 0);

/// One way to compute it. For tests (each must give the same) and measurements; others use crc32c.
struct Crc32cVariant {
  const char* name;
  uint32_t (*crc32c)(const void* data, size_t bytes, uint32_t crc);
};

/// Those that this processor can run, the one that crc32c uses last; never empty.
std::span<const Crc32cVariant> crc32c_variants();

}  // namespace ringtree
