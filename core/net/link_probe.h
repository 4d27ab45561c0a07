// How fast the connection of two ranks on different hosts is: the way there of a small message, and the rate of a large
// one. One side asks, the other answers, over sockets that carry nothing else meanwhile and are clean afterwards. Not
// for when it is asked, nor what is made of it: core/engine/agreement.h.
//
// On each socket the asker sends the number of bytes that follow (8 bytes, little endian) and those bytes; the other
// end says with one byte that it has them. kOver instead of a number ends it, and is answered, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/clock.h"

namespace ringtree {

struct ProbedLink {
  double alpha_s = 0;  // from handing a message of a few bytes to the kernel until the other end has it
  /// Bytes per second, in one direction, over all sockets together; nothing where the time did not suffice for
  /// transfers long enough to tell.
  std::optional<double> beta_Bps = {};
};

/// No asker may have more follow at once than this.
inline constexpr uint64_t kMostProbeBytes = uint64_t{16} << 20;

/// Asks, for about `seconds`: the shortest of round trips on the first socket, and of transfers over all that take
/// longer by 0.3 ms and half a trip, or 16 MB, or less where the time does not suffice. `sockets`: to one other
/// process, connected, non-blocking. Nothing: the other end went. Throws TimeoutError at `deadline`, and WorldError if
/// a connection breaks: then, too, the sockets are of no use any more.
std::optional<ProbedLink> probe_link(std::span<const int> sockets, double seconds, Deadline deadline);

/// Answers until the asker says that it is over. False: the other end went before. Throws as probe_link() does, and
/// WorldError if more than kMostProbeBytes are announced.
bool answer_link_probe(std::span<const int> sockets, Deadline deadline);

}  // namespace ringtree
