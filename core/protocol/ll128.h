// The ll128 protocol: a message is a run of cache lines, each 56 bytes of data and a flag that is stored last. Whoever
// sees the flag sees the line's data, so a reader needs no word about the whole; no store wider than the flag has to be
// atomic. After NCCL's LL128, whose line is 128 bytes (120 + 8).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/protocol/protocol.h"
#include "core/transport/link.h"

namespace ringtree::ll128 {

inline constexpr size_t kLineData = kLineBytes - sizeof(uint64_t);

/// One cache line.
template <class Policy>
struct alignas(kLineBytes) BasicLine {
  std::array<std::byte, kLineData> payload;
  typename Policy::template Atomic<uint64_t> flag{0};
};

using Line = BasicLine<StdAtomics>;
static_assert(sizeof(Line) == kLineBytes);

/// The 32 low bits of the message's number tell a line's flag from those of messages before it. A line that no message
/// has reached since the number was the same 2^32 messages ago still differs in its fingerprint.
inline uint64_t flag_of(const FlaggedMessage& message) {
  return uint64_t{message.fingerprint} << 32 | ((message.number + 1) & 0xffffffff);
}

/// An empty message is one line: it carries the order of the calls.
inline size_t num_lines(size_t bytes) { return bytes == 0 ? 1 : (bytes + kLineData - 1) / kLineData; }

/// Writes `bytes` bytes into a slot.
inline void pack(std::byte* slot, const std::byte* data, size_t bytes, const FlaggedMessage& message) {
  Line* const lines = reinterpret_cast<Line*>(slot);
  const uint64_t flag = flag_of(message);
  // release: the line's data are there; pairs with the load in arrived(). seq_cst on a fenced link: the last one also
  // comes before the look at the reader's bell.
  size_t line = 0;
  for (; (line + 1) * kLineData <= bytes; ++line) {
    std::memcpy(lines[line].payload.data(), data + line * kLineData, kLineData);
    publish_in(lines[line].flag, flag, message.fenced);
  }
  if (line == num_lines(bytes)) return;
  if (const size_t rest = bytes - line * kLineData; rest > 0)
    std::memcpy(lines[line].payload.data(), data + line * kLineData, rest);
  publish_in(lines[line].flag, flag, message.fenced);
}

/// Looks at the lines from `seen` on, which becomes the number of those that are there.
inline Arrival arrived(const std::byte* slot, size_t bytes, const FlaggedMessage& message, size_t& seen) {
  const Line* const lines = reinterpret_cast<const Line*>(slot);
  const uint64_t wanted = flag_of(message);
  for (const size_t count = num_lines(bytes); seen < count; ++seen) {
    // seq_cst, pairs with the store in pack(): the line's data are there, and a look after Doorbell::announce_sleep()
    // is not taken before the announcement.
    const uint64_t flag = lines[seen].flag.load(std::memory_order_seq_cst);
    if (flag == wanted) continue;
    // Every message writes the first line; others may be as old as their number is wide.
    const bool of_this_number = seen == 0 && static_cast<uint32_t>(flag) == static_cast<uint32_t>(wanted);
    return of_this_number ? Arrival::of_another_call : Arrival::not_yet;
  }
  return Arrival::here;
}

/// Reads a message that has arrived.
inline void unpack(const std::byte* slot, std::byte* data, size_t bytes) {
  const Line* const lines = reinterpret_cast<const Line*>(slot);
  size_t line = 0;
  for (; (line + 1) * kLineData <= bytes; ++line)
    std::memcpy(data + line * kLineData, lines[line].payload.data(), kLineData);
  if (const size_t rest = bytes - line * kLineData; rest > 0)
    std::memcpy(data + line * kLineData, lines[line].payload.data(), rest);
}

}  // namespace ringtree::ll128
