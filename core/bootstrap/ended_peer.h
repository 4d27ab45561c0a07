// EndedPeer: which rank ended while all connected. Whoever finds an ended rank gives up and is then found ended by
// others, so each leaves word in the store whom it found, and all follow these words to the one that left none.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/bootstrap/store.h"

namespace ringtree {

/// Thrown by connect_mesh() and connect_remote(): `rank` ended meanwhile.
struct EndedPeer : PeerError {
  EndedPeer(int ended_rank, const std::string& what) : PeerError(what), rank(ended_rank) {}
  int rank;
};

/// Leaves word that `rank` found `found`, and returns the error of the rank that found the first one to end: `found`
/// itself where nobody else has left word. Takes at most a fraction of a second; store failures end the search.
PeerError first_to_end(Store& store, const std::string& prefix, int rank, const EndedPeer& found);

}  // namespace ringtree
