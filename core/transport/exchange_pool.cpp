// See exchange_pool.h.
#include "core/transport/exchange_pool.h"

#include <new>

namespace ringtree {

using Ring = BasicReturnRing<StdAtomics>;

void construct_pool(std::byte* memory, const PoolGeometry& geometry) {
  for (size_t side = 0; side < 2; ++side) new (memory + side * geometry.ring_bytes()) Ring;
}

std::unique_ptr<ExchangeSide> exchange_side(std::byte* memory, const PoolGeometry& geometry, bool is_lower,
                                            int own_links) {
  const auto entries = [](std::byte* ring) { return reinterpret_cast<Ring::Entry*>(ring + sizeof(Ring)); };
  std::byte* const lower = memory;
  std::byte* const higher = memory + geometry.ring_bytes();
  std::byte* const own = is_lower ? lower : higher;
  std::byte* const peer = is_lower ? higher : lower;
  return std::make_unique<ExchangeSide>(reinterpret_cast<Ring*>(own), entries(own), reinterpret_cast<Ring*>(peer),
                                        entries(peer), geometry.num_slots, is_lower ? 0 : geometry.num_slots / 2,
                                        own_links * kMaxLinkSlots);
}

}  // namespace ringtree
