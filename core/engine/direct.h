// Which steps may hand out their operand in place: where it lies in memory that peers can read, a message may name the
// place instead of carrying the bytes. That is only right while nobody writes there before the readers have read, so it
// is decided here, for a schedule, by looking at what comes later:
//
//   * No later step of the rank writes the place: always right. The call itself returns only when all have read.
//   * A later step writes it: right if its new contents come from the very step of the peer that reads the old ones, as
//     when a peer adds our chunk to its own and sends the sum back. Whoever has the sum knows that the operand was
//     read.
//   * Anything else goes through slots, as always. Waiting for the readers instead could lock up: in a one-shot
//     all_reduce in place each would wait for the others to read before it writes, and read only when it writes.
//
// Of the second kind are those that may be *answered* in place: the peer writes the sum into our buffer itself, instead
// of sending it for us to copy there. That is right where nobody but that peer reads the place before the sum is there.
#pragma once

#include <cstdint>
#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree {

/// Of one step of a rank's program.
struct DirectUse {
  Buffer from = Buffer::none;  // input or output: where the message's bytes lie when it leaves; none: not in one place
  bool out_of_place = false;   // right where input and output are different memory
  bool in_place = false;       // right where they are the same

  // In calls in place, where the buffer's owner allows it:
  bool answered = false;      // the reader may write its result where this step's operand lies
  bool takes_answer = false;  // receives that result: there is nothing left to copy
  /// Sends its result to exactly those whose operands it folds, so that it may write it there if all of them allow it.
  bool answers = false;
};

/// For each step of `program`, one of `schedule`'s. Looks at the programs of the peers that it sends to.
std::vector<DirectUse> find_direct_uses(const Schedule& schedule, const Program& program);

}  // namespace ringtree
