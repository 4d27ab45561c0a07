// connect_remote: TCP connections between ranks of different hosts: one for control and some for data a pair, each end
// sure of the other by the job's secret and a token from its identity (core/net/handshake.h). The higher rank connects
// to the lower. Strangers can neither get in nor hold anybody up. Not for ranks of one host: connect_mesh.h.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/bootstrap/network.h"
#include "core/bootstrap/peer.h"
#include "core/bootstrap/store.h"
#include "core/net/address.h"

namespace ringtree {

/// Where this rank listens, one socket a rail; open from before it is published until the mesh stands.
struct RemoteListeners {
  std::vector<Fd> sockets;
  std::vector<Address> addresses;
};

/// Opens them. Throws UsageError (own_rails()) and WorldError.
RemoteListeners listen_for_remote(const Network& network, int backlog);

/// The addresses of all ranks on other hosts, by rank; empty for the others. `one_machine`: all ranks are on this one,
/// so that loopback connects them. UsageError: this rank has none, or one that no other host can reach; PeerError: so
/// it is with another rank; MismatchError: one that cannot be read.
std::vector<std::vector<Address>> remote_addresses(const std::vector<PeerIdentity>& identities, int rank,
                                                   bool one_machine);

/// What connect_remote() makes, by rank; nothing for ranks of this host. All sockets are non-blocking and without
/// Nagle's delay. What was made before an error is there as well: peers notice when it is closed.
struct RemoteSockets {
  std::vector<Fd> control;
  std::vector<std::vector<Fd>> streams;
};

/// `local`: the control sockets to ranks of this host, by rank: one that ends stops the wait. TimeoutError: names the
/// ranks that did not connect, and what was tried last; EndedPeer: a rank ended meanwhile; PeerError: it has another
/// secret; WorldError: no descriptors are left.
void connect_remote(const RemoteListeners& listeners, const std::vector<PeerIdentity>& identities,
                    const std::vector<std::vector<Address>>& addresses, int rank, const Network& network,
                    const std::vector<Fd>& local, Deadline deadline, RemoteSockets& made);

}  // namespace ringtree
