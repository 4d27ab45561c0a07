// What sockets of every kind have in common: accepting, waiting and writing without blocking for ever, and events to
// wake a poll. Every descriptor made here is non-blocking and close-on-exec. Not for making sockets: tcp_socket.h,
// core/bootstrap/unix_socket.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/fd.h"

namespace ringtree {

/// A socket, or why there is none (an errno value).
struct SocketResult {
  Fd socket;
  int error = 0;
};

/// Accepts one connection without waiting. EAGAIN: none is there.
SocketResult accept_connection(int listener);

/// What is left until `deadline` as a timeout for poll(), rounded up, 0 to `max_ms`.
int poll_timeout_ms(Deadline deadline, int max_ms);

/// Waits until `events` (or an error or hang-up) is there on `fd`: true, or until the deadline: false.
bool wait_for(int fd, short events, Deadline deadline);

/// Writes all of `data`; false at the deadline or when the other end is gone. Never raises SIGPIPE.
bool write_all(int socket, std::string_view data, Deadline deadline);

/// Whether the kernel at the other end of a TCP socket has everything that was sent; also true of one that is no more.
bool all_acknowledged(int socket);

/// An eventfd that stays readable once signal_event() was called.
Fd make_event();
void signal_event(const Fd& event);

/// `num_bytes` random bytes of the kernel, fit for nonces and keys; and the same as hexadecimal digits.
std::string random_bytes(size_t num_bytes);
std::string random_hex(size_t num_bytes);

/// "what: what errno says", for messages of exceptions.
std::string errno_text(std::string_view what, int error);

}  // namespace ringtree
