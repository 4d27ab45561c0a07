// Mixes: several algorithms side by side in one call, each with its share of the data, as `ring:3+double_tree` has it:
// three shares go around the ring, one through the trees. A share is what a channel would be: a copy of its algorithm
// with chunks, lanes and links of its own, so nothing in one share waits for another. A mix is a schedule like any
// other: proved, run, simulated and played as one.
//
// Let W be the number of shares, and m the least number of chunks that all algorithms can be cut into. The data has
// W · m chunks; chunk q of share j is chunk q · W + j. An algorithm of fewer chunks has several for each of its own and
// is done for one of them after the other; a lane goes on to the next as soon as it can, so a tree, whose lanes have a
// step each, streams. Two other ways were rejected: one step with all of them is wide, and what the widest step takes
// at once limits how much every other step of the call can stream; each step for all of them before the next step
// deadlocks where slots are few, as in a ring.
//
//   ring + double_tree, 4 ranks   chunk            0  1  2  3  4  5  6  7
//                                 chunk of ring    0     1     2     3
//                                 of double_tree      0     0     1     1
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/schedule.h"

namespace ringtree {

struct MixPart {
  std::string algorithm;
  int shares = 1;
};

/// What a name asks for: "ring:3+double_tree" or, of one part, "ring". Throws UsageError for a number that is not
/// within 1 … kMostShares, for more than kMostShares shares, and for a part without a name.
std::vector<MixPart> parse_mix(std::string_view name);

/// `schedules`: of each part, of the same collective, ranks and root; at least one. Throws UsageError for schedules
/// with switches, and for more chunks than can be numbered.
Schedule mix(std::string_view name, const std::vector<MixPart>& parts, std::vector<Schedule> schedules);

}  // namespace ringtree
