// The store in a directory. Names beginning with '.' are files being written: no key encodes to one.
// Opens the directory anew for each look: on NFS that makes the client ask the server whether the directory changed,
// where a look-up by path could be answered "no such file" from a cache for many seconds.
#include "core/bootstrap/file_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/bootstrap/unix_socket.h"

namespace ringtree {
namespace {

constexpr size_t kMaxFileNameBytes = 240;
constexpr int64_t kFirstPauseNs = 1'000'000;
constexpr int64_t kLongestPauseNs = 20'000'000;

[[noreturn]] void fail(const std::string& what, int error) {
  throw WorldError(errno_text("file store: " + what, error));
}

Fd open_directory(const std::string& directory) {
  Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) fail("cannot open directory " + directory, errno);
  return opened;
}

void write_file(int file, std::string_view data, const std::string& name) {
  while (!data.empty()) {
    const ssize_t written = ::write(file, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write " + name, errno);
    data.remove_prefix(static_cast<size_t>(written));
  }
}

// Nothing while the file does not exist.
std::optional<std::string> read_file(const std::string& directory, const std::string& name) {
  const Fd parent = open_directory(directory);
  const Fd file(::openat(parent.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    // ESTALE: NFS, the file was replaced between look-up and open: look again.
    if (errno == ENOENT || errno == ESTALE) return std::nullopt;
    fail("cannot open " + name, errno);
  }
  std::string value(kMaxStoreValueBytes + 1, '\0');
  size_t filled = 0;
  while (filled < value.size()) {
    const ssize_t got = ::read(file.get(), value.data() + filled, value.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ESTALE) return std::nullopt;
    if (got < 0) fail("cannot read " + name, errno);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  if (filled > kMaxStoreValueBytes) throw WorldError("file store: " + name + " is larger than any value: not ours");
  value.resize(filled);
  return value;
}

std::string file_name_of(const std::string& key) {
  check_store_key(key);
  std::string name = encode_store_file_name(key);
  if (name.size() > kMaxFileNameBytes) {
    throw UsageError("store key '" + key + "' makes a file name of " + std::to_string(name.size()) +
                     " bytes, more than " + std::to_string(kMaxFileNameBytes) +
                     ": choose a shorter one or one of letters and digits");
  }
  return name;
}

}  // namespace

std::string encode_store_file_name(const std::string& key) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string name;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (plain) {
      name.push_back(c);
    } else {
      name.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return name;
}

FileStore::FileStore(const std::string& directory) : directory_(directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    throw UsageError(errno_text("cannot create the store directory " + directory, errno));
  }
  struct stat info{};
  if (::stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    throw UsageError("the store's path " + directory + " is not a directory: name another");
  }
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw UsageError("the store directory " + directory +
                     " must be yours and writable by you only: chmod 700 or name another");
  }
}

void FileStore::set(const std::string& key, const std::string& value) {
  const std::string name = file_name_of(key);
  check_store_value(key, value);
  const Fd parent = open_directory(directory_);
  const std::string temporary = ".writing-" + random_hex(16);
  Fd file(::openat(parent.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) fail("cannot create a file in " + directory_, errno);
  try {
    write_file(file.get(), value, name);
    // NFS reports a full disk at close: look at its answer.
    if (::close(file.release()) != 0 && errno != EINTR) fail("cannot write " + name, errno);
    if (::renameat(parent.get(), temporary.c_str(), parent.get(), name.c_str()) != 0)
      fail("cannot rename to " + name, errno);
  } catch (...) {
    ::unlinkat(parent.get(), temporary.c_str(), 0);
    throw;
  }
}

std::string FileStore::get(const std::string& key, Deadline deadline) {
  const std::string name = file_name_of(key);
  const int64_t start_ns = now_ns();
  for (int64_t pause_ns = kFirstPauseNs;; pause_ns = std::min(2 * pause_ns, kLongestPauseNs)) {
    if (std::optional<std::string> value = read_file(directory_, name)) return *value;
    const int64_t left_ns = deadline.at_ns - now_ns();
    if (left_ns <= 0) throw TimeoutError(store_timeout_text(key, start_ns));
    const timespec pause{0, static_cast<long>(std::min(left_ns, pause_ns))};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace ringtree
