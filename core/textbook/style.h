// The ways in which this folder runs a schedule. Each differs from the one before in one thing, so that each difference
// can be measured (ringtree explain):
//
//   tcp    messages go through loopback TCP connections, one between each two ranks; who must wait sleeps in the kernel
//   shm    messages go through mailboxes in shared memory, one for each direction
//   spin   who must wait looks again and again for a while before it sleeps, where every rank has a core
//   fused  messages are folded where they lie in the mailbox, straight into the next message and into place, in one
//          loop; before, what arrives is first copied into a temporary and then folded in a second loop
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringtree::textbook {

enum class Style : uint8_t { tcp = 0, shm = 1, spin = 2, fused = 3 };

inline constexpr Style kStyles[] = {Style::tcp, Style::shm, Style::spin, Style::fused};

inline const char* style_name(Style style) {
  constexpr const char* kNames[] = {"tcp", "shm", "spin", "fused"};
  return kNames[static_cast<int>(style)];
}

inline std::optional<Style> style_from_name(std::string_view name) {
  for (const Style style : kStyles)
    if (name == style_name(style)) return style;
  return std::nullopt;
}

constexpr bool spins(Style style) { return style == Style::spin || style == Style::fused; }

}  // namespace ringtree::textbook
