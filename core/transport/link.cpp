// See link.h.
#include "core/transport/link.h"

#include <algorithm>
#include <new>

namespace ringtree {

void construct_link(std::byte* memory, const LinkGeometry& geometry) {
  new (memory) LinkHead;
  for (int i = 0; i < geometry.num_readers; ++i)
    new (memory + geometry.readers_at() + static_cast<size_t>(i) * sizeof(LinkReader)) LinkReader;
  for (int i = 0; i < geometry.num_slots; ++i)
    new (memory + geometry.headers_at() + static_cast<size_t>(i) * sizeof(SlotHeader)) SlotHeader;
}

SendEnd::SendEnd(std::byte* memory, LinkGeometry geometry, std::vector<ReaderRoute> readers, Nic nic)
    : head_(reinterpret_cast<LinkHead*>(memory)),
      readers_(reinterpret_cast<LinkReader*>(memory + geometry.readers_at())),
      headers_(reinterpret_cast<SlotHeader*>(memory + geometry.headers_at())),
      slots_(memory + geometry.slots_at()),
      geometry_(geometry),
      routes_(std::move(readers)),
      nic_(nic),
      num_remote_(static_cast<int>(
          std::count_if(routes_.begin(), routes_.end(), [](const ReaderRoute& route) { return route.remote; }))) {}

int64_t SendEnd::slot_free_ns() const {
  int64_t latest = 0;
  for (int i = 0; i < geometry_.num_readers; ++i) latest = std::max(latest, reader(i).release_ns[slot_index()]);
  return latest;
}

void SendEnd::stamp_arrivals(size_t bytes, int64_t start_ns) {
  int transmission = 0;
  for (int i = 0; i < geometry_.num_readers; ++i)
    reader(i).arrival_ns[slot_index()] =
        routes_[static_cast<size_t>(i)].remote ? nic_.arrival_ns(start_ns, bytes, transmission++) : start_ns;
}

RecvEnd::RecvEnd(std::byte* memory, LinkGeometry geometry, int reader_index, Doorbell* sender_bell, int peer)
    : head_(reinterpret_cast<LinkHead*>(memory)),
      reader_(reinterpret_cast<LinkReader*>(memory + geometry.readers_at()) + reader_index),
      headers_(reinterpret_cast<SlotHeader*>(memory + geometry.headers_at())),
      slots_(memory + geometry.slots_at()),
      geometry_(geometry),
      sender_bell_(sender_bell),
      peer_(peer) {}

}  // namespace ringtree
