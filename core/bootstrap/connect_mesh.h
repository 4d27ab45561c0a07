// connect_mesh: one Unix socket between every pair of ranks of one host, each end sure of the other: the kernel's
// credentials and a token from the identity. The higher rank connects to the lower. Strangers can neither get in nor
// hold anybody up. Not for what happens on the sockets later: that is the mesh.
#pragma once

#include <vector>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/bootstrap/peer.h"

namespace ringtree {

/// `listener` listens on identities[rank].socket_name and was opened before that identity was published. Fills
/// `sockets` by rank; our own place and those of ranks on other hosts stay empty. They are non-blocking, and nothing
/// was read from them beyond the peer's hello. What was made before an error is there as well: peers notice when it is
/// closed. TimeoutError: names the ranks that did not connect; EndedPeer: a rank ended meanwhile (noticed within half a
/// second); WorldError: no descriptors are left.
void connect_mesh(const Fd& listener, const std::vector<PeerIdentity>& identities, int rank, Deadline deadline,
                  std::vector<Fd>& sockets);

}  // namespace ringtree
