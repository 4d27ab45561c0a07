// See shared_buffer.h and withdrawn_buffer.h.
#include "core/transport/shared_buffer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <string>

#include "core/base/error.h"
#include "core/transport/withdrawn_buffer.h"

namespace ringtree {
namespace {

struct Buffers {
  std::mutex mutex;                                        // protects the map
  std::map<const std::byte*, std::weak_ptr<Segment>> all;  // by their first byte
};

Buffers& buffers() {
  static Buffers* instance = new Buffers;  // never destroyed: arrays may outlive static destruction
  return *instance;
}

// The last owner is gone, or it is withdrawn. The entry goes first: its addresses may be somebody else's as soon as
// they are unmapped.
void forget(const std::shared_ptr<Segment>& segment) {
  Buffers& known = buffers();
  const std::lock_guard lock(known.mutex);
  known.all.erase(segment->data());
  shared_buffers_changed.fetch_add(1, std::memory_order_release);  // pairs with the acquire in shared_generation()
}

[[noreturn]] void fail_to_withdraw(size_t bytes, int error) {
  throw WorldError("cannot withdraw " + std::to_string(bytes) + " bytes of a shared buffer: " + strerror(error));
}

void make_private(const Segment& segment, const std::byte* at, size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<size_t>(at - segment.data());
  std::byte* const first = segment.data() + offset / page * page;
  const size_t length =
      (offset % page + bytes + page - 1) / page * page;  // the last page may hold another's bytes, too
  void* const own = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own == MAP_FAILED) fail_to_withdraw(length, errno);
  memcpy(own, first, length);
  // For all threads, the old pages go and the new ones come in one step.
  if (mremap(own, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, first) == MAP_FAILED) {
    const int error = errno;
    munmap(own, length);
    fail_to_withdraw(length, error);
  }
}

}  // namespace

std::shared_ptr<Segment> allocate_shared(size_t bytes) {
  const std::shared_ptr<Segment> segment = Segment::create(bytes > 0 ? bytes : 1, "a shared buffer");
  // Owners share this second pointer, whose end is noticed; the first one lives inside of it.
  const std::shared_ptr<Segment> owned(segment.get(), [segment](Segment*) { forget(segment); });
  Buffers& known = buffers();
  const std::lock_guard lock(known.mutex);
  known.all[segment->data()] = owned;
  shared_buffers_changed.fetch_add(1, std::memory_order_release);
  return owned;
}

std::shared_ptr<Segment> find_shared(const void* at, size_t bytes) {
  const std::byte* const first = static_cast<const std::byte*>(at);
  std::shared_ptr<Segment> segment;  // goes after the lock, which the end of its last owner takes
  Buffers& known = buffers();
  const std::lock_guard lock(known.mutex);
  auto entry = known.all.upper_bound(first);
  if (entry == known.all.begin()) return nullptr;
  segment = (--entry)->second.lock();
  if (!segment || first + bytes > segment->data() + segment->size()) return nullptr;
  return segment;
}

void withdraw_shared(const void* at, size_t bytes) {
  const std::shared_ptr<Segment> segment = find_shared(at, bytes);
  if (!segment) return;
  forget(segment);  // first: nobody is told any more of places that are about to go
  make_private(*segment, static_cast<const std::byte*>(at), bytes);
}

}  // namespace ringtree
