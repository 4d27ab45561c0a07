// exchange_identities: every rank publishes who it is in the store and reads all others, and all come to the same
// verdict on whether they form one communicator. The only code that uses the store. Not for connecting: connect_mesh()
// does that with the result.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/bootstrap/peer.h"
#include "core/bootstrap/store.h"

namespace ringtree {

/// All identities in the order of ranks, `mine` among them. Keys begin with `prefix`, which keeps communicators that
/// share a store apart and must be new for each communicator. TimeoutError: names every rank that did not come;
/// MismatchError: see agree(); UsageError: see agree(), or two processes claim one rank; PeerError: the store's server
/// ended, with the rank that was waited for. A rank that fails stays in the store for a moment (at most 2 s, and 0.5 s
/// past the deadline), so that a rank that serves the store does not take the others' reason away with it.
std::vector<PeerIdentity> exchange_identities(Store& store, const std::string& prefix, const PeerIdentity& mine,
                                              Deadline deadline);

}  // namespace ringtree
