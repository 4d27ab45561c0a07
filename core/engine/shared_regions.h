// The shared buffers (core/transport/shared_buffer.h) that a communicator's ranks have told each other about. A rank
// announces a buffer when a call first uses it; peers map it and from then on can be sent a place in it.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/caller_lock.h"
#include "core/engine/session.h"
#include "core/transport/shared_buffer.h"
#include "core/transport/shared_table.h"

namespace ringtree {

/// Where an operand lies that peers can read in place.
struct SharedOperand {
  const std::byte* base = nullptr;  // of its buffer, in this process; null: it lies in memory of this rank alone
  uint64_t region = 0;

  explicit operator bool() const { return base != nullptr; }
  SharedPlace place(const std::byte* at) const { return {region, static_cast<uint64_t>(at - base)}; }
};

class SharedRegions {
 public:
  explicit SharedRegions(int world_size) : tables_(static_cast<size_t>(world_size)), mapped_(tables_.size()) {}

  /// The calling thread's: whether [at, at + bytes) lies in a shared buffer. Announces one that is new to this
  /// communicator, and takes those back that are gone. Lets `lock` go before it tells peers anything: a socket may
  /// have no room for a while.
  SharedOperand find(Session& session, const void* at, size_t bytes, CallerLock* lock = nullptr) {
    return shared_generation() == 0 || bytes == 0 ? SharedOperand{} : look_up(session, at, bytes, lock);
  }

  /// What `peer` has announced.
  const SharedTable& table(int peer) const { return tables_[static_cast<size_t>(peer)]; }

  /// A peer's announcement; on the mesh's monitor thread.
  void on_announcement(Session& session, int peer, ByteReader reader, Fd fd);

 private:
  struct Own {
    std::weak_ptr<Segment> segment;
    const std::byte* base = nullptr;  // null: this number is free
    size_t bytes = 0;
    uint64_t region = 0;  // its number; the next buffer here has one that is higher by kMaxSharedRegions
  };

  SharedOperand look_up(Session& session, const void* at, size_t bytes, CallerLock* lock);
  void take_back_the_gone(Session& session, CallerLock* lock);
  static void tell(Session& session, uint64_t region, const Segment* segment, CallerLock* lock);

  // The calling thread's.
  std::vector<Own> own_;
  std::array<std::pair<const void*, size_t>, 64> ordinary_{};  // operands that lie in no shared buffer, by address
  uint64_t generation_ = 0;
  // Written by the monitor thread; tables are read by the calling one.
  std::vector<SharedTable> tables_;
  std::vector<std::vector<std::shared_ptr<Segment>>> mapped_;  // peer -> region
};

}  // namespace ringtree
