// See sha256.h. Names of variables are those of FIPS 180-4, so that one can be read beside the other.
#include "core/base/sha256.h"

#include <string.h>

#include <algorithm>
#include <bit>
#include <cstddef>

namespace ringtree {
namespace {

constexpr size_t kBlockBytes = 64;
constexpr size_t kLengthBytes = 8;  // the message's length in bits, at the end of the last block

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr uint32_t kConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// A hash under way: takes bytes in pieces, so that HMAC needs no copy of its data behind the padded key. Wiped when it
// goes: under HMAC its state stands for the key.
class Sha256 {
 public:
  Sha256() = default;
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256() {
    ::explicit_bzero(state_, sizeof(state_));
    ::explicit_bzero(block_, sizeof(block_));
  }

  void add(std::string_view data) {
    num_bytes_ += data.size();
    while (!data.empty()) {
      const size_t taken = std::min(kBlockBytes - held_, data.size());
      std::copy_n(data.begin(), taken, block_ + held_);
      data.remove_prefix(taken);
      held_ += taken;
      if (held_ == kBlockBytes) compress();
    }
  }

  // Ends the message: a bit 1, zeros up to the end of a block less 8 bytes, the number of bits.
  Sha256Digest finish() {
    const uint64_t num_bits = num_bytes_ * 8;
    const size_t unpadded = held_ + 1;
    const size_t zeros = (2 * kBlockBytes - kLengthBytes - unpadded) % kBlockBytes;
    char padding[kBlockBytes + kLengthBytes] = {'\x80'};
    for (size_t i = 0; i < kLengthBytes; ++i) {
      padding[1 + zeros + i] = static_cast<char>(num_bits >> (8 * (kLengthBytes - 1 - i)));
    }
    add({padding, 1 + zeros + kLengthBytes});
    Sha256Digest digest;
    for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
  }

 private:
  void compress() {
    uint32_t w[64];
    for (size_t t = 0; t < 16; ++t) {
      w[t] = 0;
      for (size_t i = 0; i < 4; ++i) w[t] = w[t] << 8 | static_cast<unsigned char>(block_[4 * t + i]);
    }
    for (size_t t = 16; t < 64; ++t) {
      const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
      const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;  // a copy
    for (size_t t = 0; t < 64; ++t) {
      const uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
      const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + kConstants[t] + w[t];
      const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t next[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state_[i] += next[i];
    held_ = 0;
    ::explicit_bzero(w, sizeof(w));
  }

  // The first 32 bits of the fractional parts of the square roots of the first eight primes (FIPS 180-4, 5.3.3).
  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  char block_[kBlockBytes];
  size_t held_ = 0;  // bytes of the block that are there; below kBlockBytes between calls
  uint64_t num_bytes_ = 0;
};

}  // namespace

Sha256Digest sha256(std::string_view data) {
  Sha256 hash;
  hash.add(data);
  return hash.finish();
}

Sha256Digest hmac_sha256(std::string_view key, std::string_view data) {
  Sha256Digest short_key{};
  if (key.size() > kBlockBytes) {
    short_key = sha256(key);
    key = as_bytes(short_key);
  }
  char inner_pad[kBlockBytes], outer_pad[kBlockBytes];
  for (size_t i = 0; i < kBlockBytes; ++i) {
    const char byte = i < key.size() ? key[i] : '\0';
    inner_pad[i] = static_cast<char>(byte ^ 0x36);
    outer_pad[i] = static_cast<char>(byte ^ 0x5c);
  }
  Sha256 inner, outer;
  inner.add({inner_pad, kBlockBytes});
  inner.add(data);
  const Sha256Digest inner_digest = inner.finish();
  outer.add({outer_pad, kBlockBytes});
  outer.add(as_bytes(inner_digest));
  ::explicit_bzero(short_key.data(), short_key.size());
  ::explicit_bzero(inner_pad, sizeof(inner_pad));
  ::explicit_bzero(outer_pad, sizeof(outer_pad));
  return outer.finish();
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;  // volatile: else the compiler may leave the loop once it is not 0
  for (size_t i = 0; i < a.size(); ++i) difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

}  // namespace ringtree
