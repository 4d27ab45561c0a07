// See tcp_frame.h.
#include "core/transport/tcp_frame.h"

#include <bit>
#include <cstring>

#include "core/base/crc32c.h"

namespace ringtree {
namespace {

constexpr uint16_t kMagic = 0x5254;  // "TR" in memory
constexpr uint8_t kPayloadCrc = 1;

/// As it lies in the header; no padding.
struct Raw {
  uint16_t magic;
  uint8_t type, flags;
  uint32_t link, sequence, number, bytes, fingerprint, payload_crc, header_crc;
};
static_assert(sizeof(Raw) == kTcpHeaderBytes);
static_assert(std::endian::native == std::endian::little, "frames are little endian; swap them here");

uint32_t crc_of(const Raw& raw) { return crc32c(&raw, offsetof(Raw, header_crc)); }

}  // namespace

TcpHeader encode_tcp_frame(const TcpFrame& frame) {
  Raw raw{kMagic,
          static_cast<uint8_t>(frame.type),
          frame.has_payload_crc ? kPayloadCrc : uint8_t{0},
          frame.link,
          frame.sequence,
          frame.number,
          frame.bytes,
          frame.fingerprint,
          frame.payload_crc,
          0};
  raw.header_crc = crc_of(raw);
  TcpHeader header;
  std::memcpy(header.data(), &raw, sizeof raw);
  return header;
}

std::optional<TcpFrame> decode_tcp_frame(const TcpHeader& header) {
  Raw raw;
  std::memcpy(&raw, header.data(), sizeof raw);
  const bool is_message = raw.type == static_cast<uint8_t>(TcpFrameType::message);
  const bool is_credit = raw.type == static_cast<uint8_t>(TcpFrameType::credit);
  if (raw.magic != kMagic || raw.header_crc != crc_of(raw) || (!is_message && !is_credit)) return std::nullopt;
  if ((raw.flags & ~kPayloadCrc) != 0 || (is_credit && (raw.bytes != 0 || raw.flags != 0))) return std::nullopt;
  return TcpFrame{static_cast<TcpFrameType>(raw.type),
                  raw.flags != 0,
                  raw.link,
                  raw.sequence,
                  raw.number,
                  raw.bytes,
                  raw.fingerprint,
                  raw.payload_crc};
}

}  // namespace ringtree
