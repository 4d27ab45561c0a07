// Cuts a schedule into rounds of messages that both ends agree on without tags: for transports that match messages only
// by their order between two ranks (NCCL ignores tags, a TCP connection has none). Not for moving bytes, nor for time:
// a round is not a unit of time, and nothing here streams.
//
// Every rank computes the same rounds from the whole schedule, so nothing is negotiated:
//
//     local phase 0 | round 1 | local phase 1 | round 2 | local phase 2 | ...
//
// A step runs in the first local phase in which the steps that it waits for are done and all its messages are there;
// what it sends travels in the next round. A round's messages between two ranks are posted in order of (tag, place on
// the link) at both ends. So the k-th send from a to b meets the k-th receive at b from a, always in the same round: no
// tags are needed, and no batch can wait for another batch. Receivers take every message in its round, aside if the
// step is not ready, so a schedule without deadlock stays without.
#pragma once

#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree {

/// One message of a round: with which peer, for which step of this rank's program.
struct RoundMessage {
  int peer = 0;
  int step = 0;
  int operand = 0;     // which of the step's incoming messages it is
  bool lands = false;  // incoming: the step's destination is free by then, so the message may be received into it
  bool operator==(const RoundMessage&) const = default;
};

/// What one rank does in a round: messages at once, then the steps of the local phase, in order.
struct Round {
  std::vector<RoundMessage> sends, recvs;
  std::vector<int> steps;
};

/// The rounds of `rank`; round 0 has no messages. Throws UsageError if the schedule can't finish. Reads the whole
/// schedule: O(steps of all ranks).
std::vector<Round> rank_rounds(const Schedule& schedule, int rank);

}  // namespace ringtree
