// Fd: one file descriptor with one owner, closed when the owner goes. For sockets, eventfds, pidfds and files of this
// layer. Not for descriptors that somebody else owns: pass those as plain int.
#pragma once

#include <unistd.h>

#include <utility>

namespace ringtree {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  /// Gives the descriptor to the caller, who closes it.
  int release() { return std::exchange(fd_, -1); }

  void reset(int fd = -1) {
    // EINTR of close() leaves the descriptor closed on Linux: never close twice, another thread may have its number by
    // then.
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace ringtree
