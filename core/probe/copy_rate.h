// How fast cores copy memory when all of them copy at once: the floor under every collective that moves bytes.
//
// For: the best rate that a core was seen to reach. Not for: rates of links, or a forecast of what an algorithm
// reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ringtree {

/// Bytes of memory that copy_rate() takes for a buffer of `num_bytes` on each of `num_cores`; SIZE_MAX if that is more
/// than can be counted.
size_t copy_rate_memory(size_t num_bytes, size_t num_cores);

/// Measures the same copies again and again, in memory that is allocated and written once.
class CopyProbe {
 public:
  /// Two private buffers of `num_bytes` for each core. UsageError: no cores, one named twice, no bytes, `patience_s`
  /// not within [0, 60] seconds, or more memory than `memory_cap` bytes. std::bad_alloc: no memory.
  CopyProbe(size_t num_bytes, const std::vector<int>& cores, size_t memory_cap, double patience_s);
  ~CopyProbe();
  CopyProbe(const CopyProbe&) = delete;
  CopyProbe& operator=(const CopyProbe&) = delete;

  /// One pinned thread a core copies its own `num_bytes` from one buffer to the other, over and over for `seconds`
  /// (three times at least), all threads at the same time. Returns bytes copied a second (each read once and written
  /// once) of the FASTEST core in its BEST short chunk: what is derived from it is a lower bound of times, which a slow
  /// moment would push too high. Buffers of 1 MB and more are copied in the ordinary way and past the caches, half of
  /// the time each; the better counts.
  ///
  /// Nothing: a core could not be used, or the threads did not get theirs for long enough to meet and to copy once
  /// within `seconds` + the patience, after which all end; fewer than three copies may have to do. Before, the first
  /// measurement writes the buffers, for which it has the patience once more. What it does not come to, the next one
  /// does. UsageError: `seconds` not within [0, 60]. WorldError: no thread is left.
  std::optional<double> measure(double seconds);

 private:
  struct Worker;
  struct Start;
  template <class Body>
  bool on_all_cores(int64_t length_ns, const Body& body);

  const size_t num_bytes_;
  const int64_t patience_ns_;
  std::vector<Worker> workers_;
  bool written_ = false;
};

/// A CopyProbe's first measurement. Errors as its constructor and measure().
std::optional<double> copy_rate(size_t num_bytes, const std::vector<int>& cores, double seconds, size_t memory_cap,
                                double patience_s = 10);

}  // namespace ringtree
