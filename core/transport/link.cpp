// See link.h and link_memory.h.
#include "core/transport/link.h"

#include <new>

namespace ringtree {
namespace {

// The geometry as an end uses it: messages of an exchange link lie in slots of the pool's size.
LinkGeometry with_pool(LinkGeometry geometry, const LinkPool& pool) {
  if (pool.side) geometry.slot_bytes = pool.slot_bytes;
  return geometry;
}

Line* lines_of(std::byte* memory) { return reinterpret_cast<Line*>(memory); }

LinkReader* readers_of(std::byte* memory, const LinkGeometry& geometry) {
  return reinterpret_cast<LinkReader*>(memory + geometry.readers_at());
}

}  // namespace

void construct_link(std::byte* memory, const LinkGeometry& geometry) {
  for (size_t i = 0; i < static_cast<size_t>(geometry.num_slots); ++i) new (memory + i * sizeof(Line)) Line;
  for (size_t i = 0; i < static_cast<size_t>(geometry.num_readers); ++i)
    new (memory + geometry.readers_at() + i * sizeof(LinkReader)) LinkReader;
}

SendEnd make_send_end(std::byte* memory, const LinkGeometry& geometry, const LinkPool& pool,
                      std::vector<ReaderRoute> routes, bool fenced, Nic nic) {
  return {lines_of(memory),
          readers_of(memory, geometry),
          pool.side ? pool.slots : memory + geometry.slots_at(),
          with_pool(geometry, pool),
          std::move(routes),
          pool.side,
          fenced,
          nic};
}

RecvEnd make_recv_end(std::byte* memory, const LinkGeometry& geometry, int reader_index, const LinkPool& pool,
                      Doorbell* sender_bell, int peer, const SharedTable* shared, bool fenced) {
  return {lines_of(memory),
          readers_of(memory, geometry) + reader_index,
          pool.side ? pool.slots : memory + geometry.slots_at(),
          with_pool(geometry, pool),
          pool.side,
          pool.own_links,
          sender_bell,
          peer,
          shared,
          fenced};
}

}  // namespace ringtree
