// See secret.h. No message here contains a byte of a secret.
#include "core/net/secret.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/printable.h"
#include "core/net/socket.h"

namespace ringtree {
namespace {

constexpr char kFileVariable[] = "RINGTREE_SECRET_FILE";
constexpr char kValueVariable[] = "RINGTREE_SECRET";

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw UsageError(std::string(kFileVariable) + " '" + printable(path) + "' " + why);
}

std::string length_rule() {
  return std::to_string(Secret::kMinBytes) + " to " + std::to_string(Secret::kMaxBytes) + " are required";
}

void check_owner_and_mode(const std::string& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode)) refuse_file(path, "is not a regular file: name a file that holds the secret");
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    refuse_file(path, "belongs to user " + std::to_string(info.st_uid) + ", who could change it: make it belong to " +
                          "user " + std::to_string(::geteuid()) + ", who runs this process (chown)");
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    refuse_file(path, "is open to other users: chmod 600 " + printable(path));
  }
}

Secret read_secret_file(const std::string& path) {
  // O_NONBLOCK: opening a FIFO would wait for its writer.
  const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() && errno == ELOOP) {
    refuse_file(path, "is a symbolic link, whose target may be changed by others: name the file itself");
  }
  if (!file.valid()) {
    refuse_file(path, errno_text("cannot be read", errno) + ": name the file that holds the job's secret");
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) refuse_file(path, errno_text("cannot be examined", errno));
  check_owner_and_mode(path, info);
  char buffer[Secret::kMaxBytes + 2];  // room for the newline and for one byte that is too many
  size_t held = 0;
  for (ssize_t got = 1; got != 0 && held < sizeof(buffer);) {
    got = ::read(file.get(), buffer + held, sizeof(buffer) - held);
    if (got < 0 && errno != EINTR) refuse_file(path, errno_text("cannot be read", errno));
    if (got > 0) held += static_cast<size_t>(got);
  }
  const size_t used = held > 0 && buffer[held - 1] == '\n' ? held - 1 : held;
  Secret secret = Secret::of({buffer, used});
  ::explicit_bzero(buffer, sizeof(buffer));
  if (used < Secret::kMinBytes) {
    refuse_file(path, "holds a secret of " + std::to_string(used) + " bytes, " + length_rule() +
                          ": write a new one, e.g. openssl rand -hex 32");
  }
  if (used > Secret::kMaxBytes) refuse_file(path, "holds more bytes than a secret may have, " + length_rule());
  return secret;
}

std::mutex kept_mutex;         // protects `kept`, and the environment against our own calls
Secret kept = Secret::none();  // what RINGTREE_SECRET was before it was unset

// The caller holds kept_mutex.
Secret take_secret_variable() {
  char* const value = std::getenv(kValueVariable);
  if (value == nullptr) return kept;
  const std::string_view bytes = value;
  if (bytes.size() < Secret::kMinBytes || bytes.size() > Secret::kMaxBytes) {
    throw UsageError(std::string(kValueVariable) + " has " + std::to_string(bytes.size()) + " bytes, " + length_rule() +
                     ": use a random one, e.g. of openssl rand -hex 32, or unset it");
  }
  kept = Secret::of(bytes);
  // The memory first: unsetenv() only removes the pointer, and /proc/<pid>/environ shows the memory.
  ::explicit_bzero(value, bytes.size());
  ::unsetenv(kValueVariable);
  return kept;
}

}  // namespace

Secret Secret::of(std::string_view bytes) {
  Secret secret;
  secret.bytes_.assign(bytes.begin(), bytes.end());
  return secret;
}

Secret Secret::from_environment() {
  std::string path;
  {
    const std::lock_guard<std::mutex> lock(kept_mutex);  // also this getenv(): another of our threads may unset
    const char* const value = std::getenv(kFileVariable);
    if (value == nullptr) return take_secret_variable();
    path = value;
  }
  return read_secret_file(path);
}

Secret::~Secret() {
  if (!bytes_.empty()) ::explicit_bzero(bytes_.data(), bytes_.size());
}

}  // namespace ringtree
