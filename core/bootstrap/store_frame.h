// The frames between UnixStore and StoreServer: a header of 16 bytes (magic, version, kind, length of the key, length
// of the value, milliseconds to wait), then the key, then the value. The lengths are checked before anything is done
// with them. Not the frames of the mesh: those are in control_message.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringtree {

enum class StoreFrameKind : uint8_t {
  set = 1,      // request: key and value
  get = 2,      // request: key, and how long to wait for it
  value = 3,    // answer to get; to set: an empty one
  not_set = 4,  // answer to get: it was not set in time
  refused = 5,  // answer: the value says why
  closing = 6,  // answer: the server ends
};

inline constexpr size_t kStoreHeaderBytes = 16;

struct StoreHeader {
  StoreFrameKind kind = StoreFrameKind::refused;
  uint32_t key_bytes = 0;
  uint32_t value_bytes = 0;
  uint32_t wait_ms = 0;
  size_t frame_bytes() const { return kStoreHeaderBytes + key_bytes + value_bytes; }
};

/// One whole frame. Key and value within the limits of store.h, which the caller has checked.
std::string encode_store_frame(StoreFrameKind kind, std::string_view key, std::string_view value, uint32_t wait_ms = 0);

/// The header at the start of `data`: at least kStoreHeaderBytes long. Nothing: these bytes are not of a store of this
/// version, or name lengths above the limits; the connection must be dropped.
std::optional<StoreHeader> decode_store_header(std::string_view data);

}  // namespace ringtree
