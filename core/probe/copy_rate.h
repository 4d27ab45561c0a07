// How fast cores copy memory when all of them copy at once: the floor under every collective that moves bytes.
//
// For: the best rate that a core was seen to reach. Not for: rates of links, or a forecast of what an algorithm
// reaches.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ringtree {

/// Bytes of memory that copy_rate() takes for a buffer of `num_bytes` on each of `num_cores`; SIZE_MAX if that is more
/// than can be counted.
size_t copy_rate_memory(size_t num_bytes, size_t num_cores);

/// One pinned thread a core copies its own `num_bytes` from one private buffer to another, over and over for `seconds`
/// (three times at least), all threads at the same time. Returns bytes copied a second (each read once and written
/// once) of the FASTEST core in its BEST short chunk: what is derived from it is a lower bound of times, which a slow
/// moment would push too high. Buffers of 1 MB and more are copied in the ordinary way and past the caches, half of the
/// time each; the better counts.
///
/// Nothing: a core could not be used, or a thread did not get it for long enough to write its memory and to copy it
/// once within `seconds` + `patience_s`, after which all end; fewer than three copies may have to do.
/// UsageError: no cores, one named twice, no bytes, `seconds` or `patience_s` not within [0, 60], or more memory than
/// `memory_cap` bytes. std::bad_alloc: no memory.
std::optional<double> copy_rate(size_t num_bytes, const std::vector<int>& cores, double seconds, size_t memory_cap,
                                double patience_s = 10);

}  // namespace ringtree
