// Copies past the caches: for bytes that another core, and not this one, will read, or that nobody reads soon. A line
// written whole by non-temporal stores is not fetched first and evicts nothing. Not for small messages, nor for a
// target that is in a cache: its lines must leave first (Zen 4: 256 bytes to lines just written take 430 ns with the
// fence, by memcpy 3 ns), and the reader fetches from memory what it would have found near by. Who calls this has
// measured a gain.
//
// Why a fence before a flag: x86 keeps ordinary stores in program order, so that storing a flag with release order
// needs no instruction of its own. Non-temporal stores are exempt from that order. They wait in write-combining buffers
// and may become visible after a later ordinary store, flag or not, atomic or not:
//
//     stream_copy(slot, data, bytes);
//     stream_fence();                                    // without it the reader may see the flag and old bytes
//     full.store(sequence, std::memory_order_release);
//
// The fence stands apart because it waits for the buffers to drain: several copies before one flag share one fence.
#pragma once

#include <cstddef>
#include <span>

namespace ringtree {

/// Copies `bytes` bytes; any alignment of both, which must not overlap; 0 bytes may have null pointers. Whole 64-byte
/// lines of `out` go by non-temporal stores; the lines at its ends that are written in part only, and everything where
/// the processor is not x86-64, by ordinary ones. Neither throws, allocates nor locks. Call stream_fence() before
/// telling anybody.
void stream_copy(void* out, const void* in, size_t bytes);

/// Orders every stream_copy of this thread before its later stores. Where nothing was streamed it costs some ns.
void stream_fence();

/// One way to stream, by instruction set. For tests (each must copy the same) and measurements; others use stream_copy.
struct StreamCopyVariant {
  const char* name;
  void (*copy)(void* out, const void* in, size_t bytes);
};

/// Those that this processor can run, the one that stream_copy uses last; never empty.
std::span<const StreamCopyVariant> stream_copy_variants();

}  // namespace ringtree
