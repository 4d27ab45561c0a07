// Encoding and decoding of the store's frames. Requests need a key and answers have none: a frame that breaks that is
// refused. No sockets here, so that a test can feed it anything.
#include "core/bootstrap/store_frame.h"

#include "core/bootstrap/store.h"
#include "core/bootstrap/wire.h"

namespace ringtree {
namespace {

constexpr uint64_t kMagic = 0x53525452;  // "RTRS" in memory
constexpr uint64_t kVersion = 1;

}  // namespace

std::string encode_store_frame(StoreFrameKind kind, std::string_view key, std::string_view value, uint32_t wait_ms) {
  ByteWriter out;
  out.number(kMagic, 4).number(kVersion, 1).number(static_cast<uint64_t>(kind), 1).number(key.size(), 2);
  return out.number(value.size(), 4).number(wait_ms, 4).bytes(key).bytes(value).take();
}

std::optional<StoreHeader> decode_store_header(std::string_view data) {
  ByteReader in(data.substr(0, kStoreHeaderBytes));
  const bool ours = in.number(4) == kMagic && in.number(1) == kVersion;
  const uint64_t kind = in.number(1);
  StoreHeader header;
  header.key_bytes = static_cast<uint32_t>(in.number(2));
  header.value_bytes = static_cast<uint32_t>(in.number(4));
  header.wait_ms = static_cast<uint32_t>(in.number(4));
  if (!in.done() || !ours || kind < 1 || kind > static_cast<uint64_t>(StoreFrameKind::closing)) return std::nullopt;
  header.kind = static_cast<StoreFrameKind>(kind);
  const bool request = header.kind == StoreFrameKind::set || header.kind == StoreFrameKind::get;
  if (request ? header.key_bytes == 0 || header.key_bytes > kMaxStoreKeyBytes : header.key_bytes != 0)
    return std::nullopt;
  if (header.value_bytes > kMaxStoreValueBytes) return std::nullopt;
  if (header.kind == StoreFrameKind::get && header.value_bytes != 0) return std::nullopt;
  return header;
}

}  // namespace ringtree
