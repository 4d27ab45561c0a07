// One loopback TCP connection between every two ranks, each end sure of the other. The listeners are bound to
// 127.0.0.1; any process of the host may knock there, so who connects shows the token of its identity (core/bootstrap/
// peer.h), and ports are told over the mesh's own sockets. Not for what travels later: tcp_wire.h.
#pragma once

#include <vector>

#include "core/base/fd.h"
#include "core/textbook/inbox.h"

namespace ringtree::textbook {

/// Sockets by rank, non-blocking, without Nagle's delay; the own place is empty. Collective; the higher rank connects
/// to the lower. Throws what stops the watch, and WorldError if no socket can be created.
std::vector<Fd> connect_peers(Mesh& mesh, Inbox& inbox, Watch& watch);

}  // namespace ringtree::textbook
