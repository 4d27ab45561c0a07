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
  double alpha_s = 0;   // from handing a message of a few bytes to the kernel until the other end has it
  double beta_Bps = 0;  // bytes per second, in one direction, over all sockets together
};

/// No asker may have more follow at once than this.
inline constexpr uint64_t kMostProbeBytes = uint64_t{16} << 20;

/// Asks, for about `seconds`: the shortest of round trips, and of transfers that take 3 ms or 16 MB, or less where the
/// time does not suffice. `sockets`: to one other process, connected, non-blocking. Nothing: the other end went. Throws
/// WorldError at `deadline`, and if a connection breaks: then, too, the sockets are of no use any more.
std::optional<ProbedLink> probe_link(std::span<const int> sockets, double seconds, Deadline deadline);

/// Answers until the asker says that it is over. False: the other end went before. Throws WorldError as probe_link()
/// does, and if more than kMostProbeBytes are announced.
bool answer_link_probe(std::span<const int> sockets, Deadline deadline);

}  // namespace ringtree
