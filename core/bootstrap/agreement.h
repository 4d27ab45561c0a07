// agree: do these ranks form one communicator? Pure comparisons of identities, the same on every rank, so that every
// rank comes to the same verdict and throws the same words. Not for what differs from call to call (sizes, dtypes,
// ops): the engine checks that in every collective.
#pragma once

#include <string>
#include <vector>

#include "core/bootstrap/peer.h"

namespace ringtree {

/// `identities`: one a rank, in the order of ranks. `why_one_host`: why all must share a host, empty: they need not;
/// the same on all ranks, as settings are. MismatchError: the settings differ; says that rank i has X, rank j has Y.
/// UsageError: ranks of one host run as several users, or `why_one_host` where they don't share one.
void agree(const std::vector<PeerIdentity>& identities, const std::string& why_one_host = "");

/// MismatchError: `peer` believes in another world size than `self`.
void agree_on_world_size(const PeerIdentity& self, const PeerIdentity& peer);

}  // namespace ringtree
