// See call_description.h.
#include "core/engine/call_description.h"

#include <cstdio>

namespace ringtree {
namespace {

// The finaliser of MurmurHash3: every input bit moves every output bit.
constexpr uint64_t mix(uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
  return h ^ (h >> 33);
}

}  // namespace

uint64_t CallDescription::kind_hash() const {
  const uint64_t kinds = static_cast<uint64_t>(collective) | static_cast<uint64_t>(dtype) << 8 |
                         static_cast<uint64_t>(op) << 16 | static_cast<uint64_t>(protocol) << 24 |
                         static_cast<uint64_t>(static_cast<uint32_t>(root)) << 32;
  return mix(mix(mix(mix(mix(kinds) ^ count) ^ plan_key) ^ slice_bytes) ^ counts_hash);
}

std::string CallDescription::to_string() const {
  std::string text = std::string(collective_name(collective)) + "(";
  if (counts_hash != kUnknownCounts) text += "count=" + std::to_string(count);
  if (counts_hash != 0) text += counts_hash == kUnknownCounts ? "uneven blocks" : " in uneven blocks";
  if (counts_hash > kUnknownCounts) {
    char hash[16];
    std::snprintf(hash, sizeof hash, " #%08x", static_cast<unsigned>(counts_hash >> 32));
    text += hash;
  }
  text += std::string(", ") + dtype_name(dtype);
  if (reduces(collective)) text += std::string(", ") + reduce_op_name(op);
  if (has_root(collective)) text += ", root " + std::to_string(root);
  text += std::string(", algorithm ") + algorithm;
  if (protocol != Protocol::simple) text += std::string(", protocol ") + protocol_name(protocol);
  if (slice_bytes > 0) text += ", slices of " + std::to_string(slice_bytes) + " bytes";
  return text + ")";
}

}  // namespace ringtree
