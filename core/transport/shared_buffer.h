// Memory for the user's arrays that other ranks can map: what `ringtree.empty()` hands out. A rank whose operand lies
// in such memory need not copy it into slots; its peers read it in place.
//
// For: allocating, and finding out whether a pointer that a caller passed lies in such memory. Not for: telling peers
// about it, which each communicator does (core/engine/shared_regions.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/transport/segment.h"

namespace ringtree {

/// `bytes` zeroed bytes, aligned to pages. The memory lives as long as the segment and, at a peer, as long as that peer
/// has it mapped. Throws WorldError if there is not so much.
std::shared_ptr<Segment> allocate_shared(size_t bytes);

/// The shared memory that holds all of [at, at + bytes); null if none does.
std::shared_ptr<Segment> find_shared(const void* at, size_t bytes);

/// Of shared_generation(), which is asked in every call.
inline std::atomic<uint64_t> shared_buffers_changed{0};

/// Changes whenever shared memory is allocated or given back: what was found before may not be so any more. 0: there
/// never was any.
inline uint64_t shared_generation() {
  return shared_buffers_changed.load(std::memory_order_acquire);  // pairs with the release in shared_buffer.cpp
}

}  // namespace ringtree
