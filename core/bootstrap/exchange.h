// exchange_identities: every rank publishes who it is in the store and learns who all others are, and all come to the
// same verdict on whether they form one communicator. Not for connecting: connect_mesh() does that with the result.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/bootstrap/peer.h"
#include "core/bootstrap/rendezvous.h"
#include "core/bootstrap/store.h"

namespace ringtree {

/// All identities in the order of ranks, `mine` among them. TimeoutError: names every rank that did not come,
/// or those for which there was time (2 s); then its field is empty unless they show the lowest rank that did come;
/// MismatchError: see agree(); UsageError: see agree(), or two processes claim one rank; PeerError: the store's server
/// ended, with the rank that was waited for; or what Rendezvous::get() throws.
std::vector<PeerIdentity> exchange_identities(Rendezvous& rendezvous, const PeerIdentity& mine, Deadline deadline,
                                              const std::string& why_one_host = "");

/// The first `most` of a meeting's ranks, in their order, that have not published their identity yet; for saying whom
/// one waits for. Waits for none of them, and looks for 2 s at most: in a slow store it may not come to the last ones.
/// Throws as Store::get().
std::vector<int> missing_ranks(Store& store, const std::string& prefix, int world_size, int most);

}  // namespace ringtree
