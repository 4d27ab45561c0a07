// The protocols: how the receiver of a message knows that its bytes are there. After NCCL's three, on a CPU:
//
//   simple   up to 1,144 bytes travel in a line beside their flag; more lie in a slot, and the line's flag says so
//            afterwards. Slots are shared by ranks that send to each other (core/transport/exchange_pool.h).
//   ll       every 8 bytes are 4 bytes of data and a flag, stored at once: no byte waits for another.
//   ll128    every 64-byte line is 56 bytes of data and a flag, stored last: NCCL's 120 + 8, in a CPU's cache line.
//
// This table is the only place that knows their names; each protocol's arithmetic is one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace ringtree {

enum class Protocol : uint8_t { simple = 0, ll = 1, ll128 = 2 };

struct ProtocolInfo {
  Protocol protocol;
  const char* name;
  size_t slice_bytes;  // of data that a slot of 64 KB carries at most; a multiple of 64
};

inline constexpr ProtocolInfo kProtocols[] = {
    {Protocol::simple, "simple", size_t{1} << 16},
    {Protocol::ll, "ll", size_t{511} * 64},  // half of the slot is flags, and one word says whose message it is
    {Protocol::ll128, "ll128", size_t{1024} * 56},
};
inline constexpr int kNumProtocols = static_cast<int>(std::size(kProtocols));

constexpr const ProtocolInfo& info_of(Protocol protocol) { return kProtocols[static_cast<int>(protocol)]; }
constexpr const char* protocol_name(Protocol protocol) { return info_of(protocol).name; }

inline std::optional<Protocol> protocol_from_name(std::string_view name) {
  for (const ProtocolInfo& info : kProtocols)
    if (name == info.name) return info.protocol;
  return std::nullopt;
}

/// Throws UsageError that lists what exists.
inline Protocol require_protocol(std::string_view name) {
  std::string known;
  for (const ProtocolInfo& info : kProtocols) {
    if (name == info.name) return info.protocol;
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  throw UsageError("unknown protocol '" + std::string(name) + "'; choose from: " + known);
}

/// Whether a message with flags of its own has come.
enum class Arrival : uint8_t { not_yet, here, of_another_call };

/// Who a flagged message is and how far its reader has looked.
struct FlaggedMessage {
  uint64_t number = 0;  // of the link's messages, from 0
  uint32_t fingerprint = 0;
  bool fenced = true;  // of the link (core/transport/link.h)
};

}  // namespace ringtree
