// See doorbell.h. The futex is not private: ranks may be processes.
#include "core/transport/doorbell.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <system_error>

#include "core/base/error.h"

namespace ringtree {
namespace {

// Anybody of the host may send there: a rank that wakes for nothing looks around and sleeps again.
struct BellAddress {
  explicit BellAddress(uint64_t name) {
    address.sun_family = AF_UNIX;
    const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "ringtree-bell-%016llx",
                                     static_cast<unsigned long long>(name));
    num_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
  }
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&address); }
  sockaddr_un address{};
  socklen_t num_bytes;
};

Fd bell_socket() {
  Fd made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) throw WorldError("cannot create a socket: " + std::system_category().message(errno));
  return made;
}

// A full queue means that the owner has been told already; one that is gone needs no waking.
void send_wake(uint64_t name) {
  static const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));  // one a process
  const BellAddress to(name);
  const char nothing = 0;
  [[maybe_unused]] const ssize_t sent =
      ::sendto(socket.get(), &nothing, 1, MSG_NOSIGNAL | MSG_DONTWAIT, to.raw(), to.num_bytes);
}

}  // namespace

void Doorbell::sleep(uint32_t ticket, int64_t until_ns) {
  timespec until{until_ns / 1'000'000'000, static_cast<long>(until_ns % 1'000'000'000)};
  // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time, so a late start does not lengthen the wait.
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&bell_), FUTEX_WAIT_BITSET, ticket, &until, nullptr,
          FUTEX_BITSET_MATCH_ANY);
  sleeping_.store(0, std::memory_order_relaxed);
}

void Doorbell::wake() {
  bell_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in announce_sleep()
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&bell_), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  // acquire, pairs with the release in make_pollable(): a rank that sleeps in a poll has its socket.
  if (const uint64_t name = name_.load(std::memory_order_acquire); name != 0) send_wake(name);
}

Fd Doorbell::make_pollable() {
  uint64_t name = 0;
  while (name == 0)
    if (::getrandom(&name, sizeof name, 0) != static_cast<ssize_t>(sizeof name)) name = 0;
  Fd socket = bell_socket();
  const BellAddress own(name);
  if (::bind(socket.get(), own.raw(), own.num_bytes) != 0)
    throw WorldError("cannot bind a doorbell: " + std::system_category().message(errno));
  name_.store(name, std::memory_order_release);  // pairs with the acquire in wake()
  return socket;
}

void use_exact_timers() {
  thread_local bool done = false;
  if (!done) prctl(PR_SET_TIMERSLACK, 1UL);
  done = true;
}

}  // namespace ringtree
