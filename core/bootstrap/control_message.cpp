// Encoding and decoding of control frames. No sockets here, so that a test can feed the decoder anything.
// Values above the limits are refused, never clipped.
#include "core/bootstrap/control_message.h"

#include <limits>

#include "core/base/crc32c.h"
#include "core/bootstrap/peer.h"
#include "core/bootstrap/wire.h"

namespace ringtree {
namespace {

constexpr uint64_t kMagic = 0x43525452;  // "RTRC" in memory
constexpr uint64_t kVersion = 2;

constexpr size_t kCheckedHeaderBytes = kControlHeaderBytes - sizeof(uint32_t);

uint32_t crc_of(std::string_view before, std::string_view payload) {
  return crc32c(payload.data(), payload.size(), crc32c(before.data(), before.size()));
}

static_assert(kHelloFrameBytes == kControlHeaderBytes + 4 + kTokenBytes);

}  // namespace

std::string encode_control_frame(ControlType type, std::string_view payload, bool has_descriptor) {
  ByteWriter out;
  out.number(kMagic, 4).number(kVersion, 2).number(static_cast<uint64_t>(type), 2);
  const std::string before = out.number(payload.size(), 4).number(has_descriptor ? 1 : 0, 4).take();
  return ByteWriter().bytes(before).number(crc_of(before, payload), 4).bytes(payload).take();
}

std::optional<ControlHeader> decode_control_header(std::string_view data) {
  ByteReader in(data.substr(0, kControlHeaderBytes));
  const bool ours = in.number(4) == kMagic && in.number(2) == kVersion;
  const uint64_t type = in.number(2);
  const uint64_t payload_bytes = in.number(4);
  const uint64_t num_descriptors = in.number(4);
  const auto crc = static_cast<uint32_t>(in.number(4));
  if (!in.done() || !ours || payload_bytes > kMaxControlPayloadBytes || num_descriptors > 1) return std::nullopt;
  if (type < static_cast<uint64_t>(ControlType::hello) || type > static_cast<uint64_t>(ControlType::status))
    return std::nullopt;
  return ControlHeader{static_cast<ControlType>(type), static_cast<uint32_t>(payload_bytes), num_descriptors == 1, crc};
}

bool is_whole(std::string_view frame, const ControlHeader& header) {
  return header.crc == crc_of(frame.substr(0, kCheckedHeaderBytes), frame.substr(kControlHeaderBytes));
}

std::string encode_hello_frame(const MeshHello& hello) {
  ByteWriter payload;
  payload.number(static_cast<uint64_t>(hello.rank), 4).bytes(hello.token);
  return encode_control_frame(ControlType::hello, payload.take(), false);
}

std::optional<MeshHello> decode_hello_frame(std::string_view frame) {
  const std::optional<ControlHeader> header = decode_control_header(frame);
  if (!header || header->type != ControlType::hello || header->has_descriptor) return std::nullopt;
  if (frame.size() != kHelloFrameBytes || header->payload_bytes != kHelloFrameBytes - kControlHeaderBytes)
    return std::nullopt;
  if (!is_whole(frame, *header)) return std::nullopt;
  ByteReader in(frame.substr(kControlHeaderBytes));
  const uint64_t rank = in.number(4);
  std::string token(in.bytes(kTokenBytes));
  if (!in.done() || rank > static_cast<uint64_t>(std::numeric_limits<int>::max())) return std::nullopt;
  return MeshHello{static_cast<int>(rank), std::move(token)};
}

}  // namespace ringtree
