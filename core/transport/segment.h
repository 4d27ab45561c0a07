// Shared memory without a name: a memfd, sealed against resizing, whose descriptor is passed to the peers. Nothing can
// be left in /dev/shm, and Docker's 64 MB limit there does not matter. Who gets the descriptor how is the bootstrap's
// business.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ringtree {

class Segment {
 public:
  /// A new zeroed segment whose pages are reserved now, so that a full machine is an error here and not a SIGBUS later.
  /// Throws WorldError that says how much was asked for.
  static std::shared_ptr<Segment> create(size_t bytes, const std::string& purpose);

  /// Maps the segment `id` of a rank, of `bytes` bytes. Takes `fd` (always closes it). `same_process`: that rank is a
  /// thread of this very process; then its mapping is shared, so that thread sanitizers see one address for one byte.
  /// Throws WorldError if the descriptor is not a sealed segment of exactly `bytes`.
  static std::shared_ptr<Segment> open(int fd, size_t bytes, bool same_process, uint64_t id);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  /// To be passed to peers; -1 for a segment that a peer made and after close_descriptor().
  int fd() const { return fd_.load(std::memory_order_relaxed); }  // a number, it publishes nothing
  /// The memory stays, but can be passed to nobody any more. Idempotent.
  void close_descriptor();
  uint64_t id() const { return id_; }

 private:
  Segment(int fd, std::byte* data, size_t size, uint64_t id) : fd_(fd), data_(data), size_(size), id_(id) {}

  std::atomic<int> fd_;
  std::byte* data_;
  size_t size_;
  uint64_t id_;  // within the process that made it
};

}  // namespace ringtree
