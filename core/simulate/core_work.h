// What a message takes of the cores at its ends, where links stand for cores (CoreMemory): moving it through slots,
// folding it, and what a core reads and writes in addition: the call's buffers, and slots that do not stay in a near
// cache. In units of what moving a byte takes: such a message of n bytes fills its core's link like n · work bytes.
//
// For a rank that reads and writes B bytes of buffers in the whole call, through slots of L bytes, a byte takes
//   1 / core_rate + pace(L + min(L, B)) · 1 + pace(B + L) · touches + folds / reduce_rate
// of the receiver, with the touches and folds of its steps shared evenly among their messages; the same of a sender,
// who folds nothing, but what is written once for k readers takes each of these messages a k-th. Slots come round again
// after L bytes and about as many of buffers, buffers after everything. A connection has one figure: the mean over its
// messages.
#pragma once

#include <cstddef>
#include <vector>

#include "core/simulate/network.h"

namespace ringtree {

class PlacedTraffic;

class CoreWork {
 public:
  CoreWork() = default;  // where no link is a core: every message takes its bytes
  explicit CoreWork(const PlacedTraffic& placed);

  double of_sender(int connection) const { return ends_.empty() ? 1 : ends_[static_cast<size_t>(connection)].sender; }
  double of_receiver(int connection) const {
    return ends_.empty() ? 1 : ends_[static_cast<size_t>(connection)].receiver;
  }
  /// Seconds that a byte takes which a rank copies or folds for itself: a read and a write of two buffers.
  double copy_seconds(int rank) const { return copies_.empty() ? 0 : copies_[static_cast<size_t>(rank)]; }

 private:
  struct Ends {
    double sender = 1, receiver = 1;
  };
  std::vector<Ends> ends_;      // of each connection
  std::vector<double> copies_;  // of each rank
};

/// Seconds that a byte takes a core which reads or writes it while it goes through `bytes`: those of the table's
/// entries, between two of them linear in the logarithm of bytes, beyond the ends constant. None without a table.
double pace(const CoreMemory& memory, double bytes);

}  // namespace ringtree
