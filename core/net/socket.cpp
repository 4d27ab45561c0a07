// See socket.h.
#include "core/net/socket.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/base/error.h"

namespace ringtree {

SocketResult accept_connection(int listener) {
  Fd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const int error = socket.valid() ? 0 : errno;
  return {std::move(socket), error == EINTR || error == ECONNABORTED ? EAGAIN : error};
}

int poll_timeout_ms(Deadline deadline, int max_ms) {
  const int64_t left_ns = deadline.at_ns - now_ns();
  if (left_ns <= 0) return 0;
  return static_cast<int>(std::min<int64_t>(left_ns / 1'000'000 + 1, max_ms));
}

bool wait_for(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, poll_timeout_ms(deadline, 1000));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (deadline.passed()) return false;
  }
}

bool write_all(int socket, std::string_view data, Deadline deadline) {
  while (!data.empty()) {
    const ssize_t sent = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      data.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(socket, POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool all_acknowledged(int socket) {
  int unacknowledged = 0;
  return ::ioctl(socket, SIOCOUTQ, &unacknowledged) != 0 || unacknowledged == 0;
}

Fd make_event() {
  Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) throw WorldError(errno_text("cannot create an eventfd", errno));
  return event;
}

void signal_event(const Fd& event) {
  const uint64_t one = 1;
  // Can only fail when the counter is full, and then the event is signalled already.
  [[maybe_unused]] const ssize_t written = ::write(event.get(), &one, sizeof(one));
}

std::string random_bytes(size_t num_bytes) {
  std::string raw(num_bytes, '\0');
  for (size_t done = 0; done < num_bytes;) {
    const ssize_t got = ::getrandom(raw.data() + done, num_bytes - done, 0);
    if (got > 0) done += static_cast<size_t>(got);
    if (got < 0 && errno != EINTR) throw WorldError(errno_text("cannot get random bytes from the kernel", errno));
  }
  return raw;
}

std::string random_hex(size_t num_bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (const char byte : random_bytes(num_bytes)) {
    digits.push_back(kDigits[static_cast<unsigned char>(byte) >> 4]);
    digits.push_back(kDigits[static_cast<unsigned char>(byte) & 15]);
  }
  return digits;
}

std::string errno_text(std::string_view what, int error) {
  return std::string(what) + ": " + std::system_category().message(error);
}

}  // namespace ringtree
