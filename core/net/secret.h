// Secret: bytes that only the ranks of one job know, and where a job gets them from. Never printed, wiped when gone.
// Not for proving that one knows it: handshake.h. Whoever reads this process's memory (the same user, root) reads it
// too.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string_view>
#include <utility>
#include <vector>

namespace ringtree {

class Secret {
 public:
  static constexpr size_t kMinBytes = 16;
  static constexpr size_t kMaxBytes = 4096;

  /// A secret of no bytes: the job has none, and proofs by it prove nothing.
  static Secret none() noexcept { return Secret(); }
  /// A copy of `bytes`, whatever their number; wiping those is up to the caller.
  static Secret of(std::string_view bytes);

  /// What the environment says; may be called for every communicator, by any thread.
  ///
  /// RINGTREE_SECRET_FILE: the file's bytes less one newline at the end. It must be a regular file, no symbolic link,
  /// of this user or root, without permissions for others, of 16 to 4096 bytes. Else RINGTREE_SECRET, of as many bytes:
  /// the variable is overwritten and unset, so that neither child processes nor /proc/<pid>/environ show it, and the
  /// value kept for later calls. Else none(). UsageError says which rule is broken and how to mend it.
  ///
  /// Neither overwriting nor unsetenv() is safe beside a thread that reads the environment (getenv) without our mutex.
  /// It is done once, by the first call after the variable was set: make that call before threads that might.
  static Secret from_environment();

  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept = default;  // leaves the other one empty: the vector moves its only copy
  Secret& operator=(const Secret& other) { return *this = Secret(other); }
  Secret& operator=(Secret&& other) noexcept {
    Secret taken(std::move(other));
    bytes_.swap(taken.bytes_);  // what was here goes with `taken`, wiped
    return *this;
  }
  ~Secret();

  bool empty() const { return bytes_.empty(); }
  /// To compute with, as long as this object lives.
  std::string_view bytes() const { return {bytes_.data(), bytes_.size()}; }

  friend std::ostream& operator<<(std::ostream&, const Secret&) = delete;

 private:
  Secret() = default;

  std::vector<char> bytes_;  // no std::string: that keeps short texts inside, and moving leaves a copy
};

}  // namespace ringtree
