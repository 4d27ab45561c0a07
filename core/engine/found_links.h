// What this process has found of the links to another host, as rank 0 of earlier communicators: programs make a
// communicator for each of their groups, and need not wait for a probe each time. Not for probing
// (core/net/link_probe.h), nor for agreeing on what was found (agreement.h).
#pragma once

#include <optional>

#include "core/bootstrap/peer.h"
#include "core/model/cluster.h"

namespace ringtree {

/// From any thread. By the host of `other`, whatever interfaces and streams lead there.
std::optional<HostLinks> found_links_to(const PeerIdentity& other);
void remember_links_to(const PeerIdentity& other, const HostLinks& links);

}  // namespace ringtree
