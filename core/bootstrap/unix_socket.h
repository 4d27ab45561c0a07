// Abstract Unix stream sockets, who is at their other end, and events to wake a poll: the system calls of this layer.
// Abstract names live in the kernel only: kill -9 leaves no file behind. They have no permissions either, so whoever
// accepts or connects must check peer_credentials(). Every socket made here is non-blocking and close-on-exec. Not for
// TCP and not for collective data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/bootstrap/fd.h"

namespace ringtree {

/// Longest abstract name in bytes (sun_path less its leading zero byte).
inline constexpr size_t kMaxSocketNameBytes = 107;

/// A socket, or why there is none (an errno value).
struct SocketResult {
  Fd socket;
  int error = 0;
};

/// Listens on the abstract `name`. EADDRINUSE: a live process has the name.
SocketResult listen_abstract(std::string_view name);

/// Connects to the abstract `name` without waiting. ECONNREFUSED: nobody listens; EAGAIN: the listener's queue is full.
SocketResult connect_abstract(std::string_view name);

/// Accepts one connection without waiting. EAGAIN: none is there.
SocketResult accept_connection(int listener);

/// The process that connected, or that listens, at the other end of `socket`, as the kernel recorded it. A pid of 0
/// means a process that our pid namespace cannot see.
struct Credentials {
  int pid = 0;
  uint32_t uid = 0;
};
std::optional<Credentials> peer_credentials(int socket);

/// What is left until `deadline` as a timeout for poll(), rounded up, 0 to `max_ms`.
int poll_timeout_ms(Deadline deadline, int max_ms);

/// Waits until `events` (or an error or hang-up) is there on `fd`: true, or until the deadline: false.
bool wait_for(int fd, short events, Deadline deadline);

/// Writes all of `data`; false at the deadline or when the other end is gone. Never raises SIGPIPE.
bool write_all(int socket, std::string_view data, Deadline deadline);

/// An eventfd that stays readable once signal_event() was called.
Fd make_event();
void signal_event(const Fd& event);

/// `num_bytes` random bytes of the kernel, as hexadecimal digits.
std::string random_hex(size_t num_bytes);

/// "what: what errno says", for messages of exceptions.
std::string errno_text(std::string_view what, int error);

}  // namespace ringtree
