// See shared_buffer.h.
#include "core/transport/shared_buffer.h"

#include <map>
#include <mutex>

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

// The last owner is gone. The entry goes first: its addresses may be somebody else's as soon as they are unmapped.
void forget(const std::shared_ptr<Segment>& segment) {
  Buffers& known = buffers();
  const std::lock_guard lock(known.mutex);
  known.all.erase(segment->data());
  shared_buffers_changed.fetch_add(1, std::memory_order_release);  // pairs with the acquire in shared_generation()
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
  Buffers& known = buffers();
  const std::lock_guard lock(known.mutex);
  auto entry = known.all.upper_bound(first);
  if (entry == known.all.begin()) return nullptr;
  std::shared_ptr<Segment> segment = (--entry)->second.lock();
  if (!segment || first + bytes > segment->data() + segment->size()) return nullptr;
  return segment;
}

}  // namespace ringtree
