// The frames of the control sockets, which carry what is rare: hello, link set-up with its memory, abort, bye.
// A frame is a header of 20 bytes {magic 4, version 2, type 2, payload bytes 4, descriptors 4, CRC-32C 4}, little
// endian, and a payload; the checksum is of both. A descriptor (0 or 1) travels beside the frame's first byte as
// SCM_RIGHTS; the header's count says which frame it is for. Not for collective data, which goes through links.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringtree {

enum class ControlType : uint16_t {
  hello = 1,   // first frame each way; this layer's own
  link = 2,    // for the transport; payload opaque here, often with a descriptor
  abort = 3,   // the sender gives up; payload: one line of text
  bye = 4,     // the sender leaves in order and sends nothing after it; payload: its last status
  status = 5,  // how the sender stands; also says that it lives. Payload opaque here
};

inline constexpr size_t kControlHeaderBytes = 20;
inline constexpr size_t kMaxControlPayloadBytes = size_t{64} << 10;

struct ControlHeader {
  ControlType type = ControlType::abort;
  uint32_t payload_bytes = 0;
  bool has_descriptor = false;
  uint32_t crc = 0;
};

/// One whole frame. `payload` at most kMaxControlPayloadBytes: the caller has checked.
std::string encode_control_frame(ControlType type, std::string_view payload, bool has_descriptor);

/// The header at the start of `data`; nothing when there are fewer than kControlHeaderBytes bytes or they are not a
/// header of this version, name an unknown type or a length or count above the limits. Nothing means: drop the socket.
std::optional<ControlHeader> decode_control_header(std::string_view data);

/// Whether header and payload of a whole frame are what was sent: TCP's own sum misses some damage.
bool is_whole(std::string_view frame, const ControlHeader& header);

/// The payload of a hello: who is calling, and that rank's token as proof.
struct MeshHello {
  int rank = 0;
  std::string token;
};
std::string encode_hello_frame(const MeshHello& hello);

/// Bytes of every hello frame: a hello is read to its last byte and not one further, since what follows belongs to the
/// mesh.
inline constexpr size_t kHelloFrameBytes = kControlHeaderBytes + 4 + 32;

/// Nothing: `frame` is not exactly one hello.
std::optional<MeshHello> decode_hello_frame(std::string_view frame);

}  // namespace ringtree
