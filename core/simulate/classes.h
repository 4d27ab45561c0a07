// Which lanes, connections and links of the network behave alike, so that one of each class is enough to simulate.
// Where a schedule and its network are symmetric, as a ring on equal hosts, a thousand ranks are one.
//
// The classes are a stable colouring: members of a class have the same content, and the same classes around them, port
// by port; each link of a class is crossed by as many connections of each class. Then members do the same at the same
// times: a lane's next slice depends on its content and on what its neighbours did, and max-min shares depend on how
// many connections of which class cross which links, so by induction over events nothing can tell members apart.
#pragma once

#include <vector>

#include "core/simulate/placed_traffic.h"

namespace ringtree {

/// Ids of PlacedTraffic (lanes and connections with their channel) and of the network's links.
struct Classes {
  std::vector<int> of_lane, of_connection, of_link;  // id -> class
  std::vector<int> lanes, connections, links;        // class -> its first member
};

/// Each thing a class of its own.
Classes distinct(const PlacedTraffic& placed);

/// Channels that are alike together; and of one channel of each kind the coarsest stable colouring, if it has at most
/// an eighth as many classes of lanes as there are lanes, else each thing a class. Found by hashes, and then compared
/// member by member, so that it is exact.
Classes find_classes(const PlacedTraffic& placed);

/// Whether the classes are a stable colouring: the comparison of find_classes(). Exposed for its tests.
bool are_stable(const PlacedTraffic& placed, const Classes& classes);

}  // namespace ringtree
