// See segment.h.
#include "core/transport/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <map>
#include <mutex>

#include "core/base/error.h"

namespace ringtree {
namespace {

// Segments made by this process, for ranks that are its threads. The mutex protects the map; weak, so that it keeps
// nothing alive.
struct Registry {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<Segment>> made;
  uint64_t next_id = 1;
};

Registry& registry() {
  static Registry* instance = new Registry;  // never destroyed: segments may outlive static destruction
  return *instance;
}

[[noreturn]] void fail(const std::string& what, int error) { throw WorldError(what + ": " + strerror(error)); }

std::byte* map(int fd, size_t bytes, const std::string& what) {
  // Populated: the pages exist already, and finding each of them at its first touch would be paid by some call.
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) {
    const int error = errno;
    close(fd);
    fail("cannot map " + std::to_string(bytes) + " bytes of shared memory for " + what, error);
  }
  return static_cast<std::byte*>(data);
}

// MemAvailable of /proc/meminfo in bytes; everything if it cannot be read.
size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  size_t kilobytes = 0;
  while (file >> key >> kilobytes) {
    if (key == "MemAvailable:") return kilobytes * 1024;
    std::getline(file, unit);
  }
  return std::numeric_limits<size_t>::max();
}

}  // namespace

std::shared_ptr<Segment> Segment::create(size_t bytes, const std::string& purpose) {
  // Asking the kernel for more than there is makes it end processes, ours or others, before it says no.
  if (bytes > available_memory())
    fail("cannot reserve " + std::to_string(bytes) + " bytes of shared memory for " + purpose, ENOMEM);
  const int fd = memfd_create("ringtree", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) fail("cannot create shared memory for " + purpose, errno);
  // fallocate reserves the pages; ftruncate alone would promise memory that may not exist when it is touched.
  int error;
  do {
    error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);  // a signal of the application's, a profiler's say
  if (error != 0) {
    close(fd);
    fail("cannot reserve " + std::to_string(bytes) + " bytes of shared memory for " + purpose, error);
  }
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    error = errno;
    close(fd);
    fail("cannot seal shared memory for " + purpose, error);
  }
  std::byte* data = map(fd, bytes, purpose);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const uint64_t id = all.next_id++;
  std::shared_ptr<Segment> segment(new Segment(fd, data, bytes, id));
  all.made[id] = segment;
  return segment;
}

std::shared_ptr<Segment> Segment::open(int fd, size_t bytes, bool same_process, uint64_t id) {
  if (same_process) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto entry = all.made.find(id);
    std::shared_ptr<Segment> made = entry == all.made.end() ? nullptr : entry->second.lock();
    if (made && made->size() == bytes) {
      if (fd >= 0) close(fd);
      return made;
    }
    // The maker has left already; its memory lives on in the descriptor, as it would for another process.
  }
  if (fd < 0) throw WorldError("a peer announced shared memory without a descriptor");
  struct stat status{};
  const int seals = fcntl(fd, F_GET_SEALS);
  if (fstat(fd, &status) != 0 || static_cast<size_t>(status.st_size) != bytes || seals < 0 ||
      (seals & F_SEAL_SHRINK) == 0) {
    close(fd);
    throw WorldError("a peer announced shared memory of " + std::to_string(bytes) + " bytes but passed another file");
  }
  std::byte* data = map(fd, bytes, "a peer");
  close(fd);  // the mapping keeps the memory; descriptors are few
  return std::shared_ptr<Segment>(new Segment(-1, data, bytes, id));
}

void Segment::close_descriptor() {
  const int fd = fd_.exchange(-1, std::memory_order_relaxed);  // relaxed: a number, it publishes nothing
  if (fd >= 0) close(fd);
}

Segment::~Segment() {
  munmap(data_, size_);
  close_descriptor();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  // Only the maker's entry expires with it; a peer's mapping has an id of another process and may coincide.
  if (const auto entry = all.made.find(id_); entry != all.made.end() && entry->second.expired()) all.made.erase(entry);
}

}  // namespace ringtree
