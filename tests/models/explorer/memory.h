// The atomic memory of an explored program: C++'s memory model as a machine. Each location keeps all its messages
// (stores) in modification order; a load may return any that its thread's view does not exclude, a store may enter the
// order anywhere after what its thread has seen. Plain memory is shadow.h's, who runs next is run.h's.
//
// The model is RC11 without load buffering: release and acquire (accesses and fences), release sequences through
// read-modify-writes as in C++20, seq_cst accesses and fences by one global view in the order of execution:
//   - a seq_cst access of x touches nothing older than what earlier seq_cst accesses of x and fences have touched;
//   - a seq_cst fence learns the global view and adds its own.
// Left out: load buffering (no value is read before it is stored: no compiler or CPU that we build for shows more in
// code without relaxed data dependencies), and executions in which the order of seq_cst operations disagrees with
// happens-before, which C++20 allows for Power's sake.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "tests/models/explorer/view.h"

namespace ringtree::explorer {

struct Message {
  uint64_t value = 0;
  size_t position = 0;     // in the modification order, 0 first
  size_t event = 0;        // of the trace that stored it
  bool is_update = false;  // by a read-modify-write: nothing may come between it and what it read
  View view = {};
};

struct Location {
  const void* address = nullptr;
  size_t bytes = 0;
  int region = -1;  // of the program's names, -1 for none
  std::vector<Message> messages;
  std::vector<MessageId> order;  // modification order
  View kernel;                   // of those that woke sleepers of this futex word; its clock is not used
};

constexpr bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
constexpr bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

class Memory {
 public:
  /// Forgets everything; buffers stay.
  void clear();

  LocationId add(const void* address, size_t bytes, int region, uint64_t initial);
  const Location& location(LocationId id) const { return locations_[id]; }
  const Message& message(LocationId id, MessageId message) const { return locations_[id].messages[message]; }
  MessageId newest(LocationId id) const { return locations_[id].order.back(); }
  bool has_newer(LocationId id, MessageId than) const { return newest(id) != than; }

  /// What a load of `order` may return, newest first.
  void readable(const ThreadViews& views, LocationId id, std::memory_order order, std::vector<MessageId>& out) const;
  /// What a read-modify-write may read: as readable(), but what another one has read already is taken.
  void updatable(const ThreadViews& views, LocationId id, std::memory_order order, std::vector<MessageId>& out) const;
  bool is_taken(LocationId id, MessageId message) const;

  /// The kernel's lock around a futex word: who takes it sees what those before had seen. That much the kernel
  /// promises; it is not a happens-before edge and no fence here.
  void lock_futex(ThreadViews& views, LocationId id) const;
  void unlock_futex(const ThreadViews& views, LocationId id);

  void read(ThreadViews& views, LocationId id, MessageId message, std::memory_order order);
  /// Stores right after `predecessor`. Returns the new message.
  MessageId write(ThreadViews& views, size_t thread, LocationId id, MessageId predecessor, uint64_t value,
                  std::memory_order order, size_t event);
  /// The store half of a read-modify-write that read `source` (read() was called).
  MessageId update(ThreadViews& views, size_t thread, LocationId id, MessageId source, uint64_t value,
                   std::memory_order order, size_t event);
  void fence(ThreadViews& views, size_t thread, std::memory_order order);

 private:
  MessageId floor(const ThreadViews& views, LocationId id, std::memory_order order) const;
  MessageId insert(LocationId id, MessageId predecessor, uint64_t value, size_t event);
  bool is_later(LocationId id, MessageId a, MessageId b) const;
  void see(View& view, LocationId id, MessageId message) const;
  void join_seen(View& into, const View& from) const;
  void join(View& into, const View& from) const;

  std::vector<Location> locations_;
  size_t num_locations_ = 0;
  View sc_;  // what seq_cst operations have touched; its clock is not used
};

}  // namespace ringtree::explorer
