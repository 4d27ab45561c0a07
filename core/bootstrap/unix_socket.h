// Abstract Unix stream sockets and who is at their other end.
// Abstract names live in the kernel only: kill -9 leaves no file behind. They have no permissions either, so whoever
// accepts or connects must check peer_credentials(). Every socket made here is non-blocking and close-on-exec. Not for
// TCP and not for collective data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/net/socket.h"

namespace ringtree {

/// Longest abstract name in bytes (sun_path less its leading zero byte).
inline constexpr size_t kMaxSocketNameBytes = 107;

/// Listens on the abstract `name`. EADDRINUSE: a live process has the name.
SocketResult listen_abstract(std::string_view name);

/// Connects to the abstract `name` without waiting. ECONNREFUSED: nobody listens; EAGAIN: the listener's queue is full.
SocketResult connect_abstract(std::string_view name);

/// The process that connected, or that listens, at the other end of `socket`, as the kernel recorded it. A pid of 0
/// means a process that our pid namespace cannot see.
struct Credentials {
  int pid = 0;
  uint32_t uid = 0;
};
std::optional<Credentials> peer_credentials(int socket);

}  // namespace ringtree
