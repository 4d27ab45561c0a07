// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104): for the proof that both ends of a connection know the job's secret.
// Our own because the library depends on nothing; a few hundred bytes a connection need no speed either. Not for
// payloads (crc32c.h finds faults of the wire, nothing here encrypts), nor for passwords, which need a slow hash.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ringtree {

using Sha256Digest = std::array<uint8_t, 32>;

/// The SHA-256 of `data`. Constant memory; the time depends on the length only.
Sha256Digest sha256(std::string_view data);

/// HMAC-SHA256 of `data` under `key`, of any length (longer than 64 bytes: its SHA-256 is the key, says RFC 2104).
/// Wipes the copies of the key that it makes.
Sha256Digest hmac_sha256(std::string_view key, std::string_view data);

/// Whether both are the same bytes, in a time that depends on the lengths only: a comparison that stops at the first
/// difference tells a guesser how much was right. Lengths are not secret and are compared first.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// A digest as bytes to send or compare.
inline std::string_view as_bytes(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace ringtree
