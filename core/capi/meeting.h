// Where the ranks of an rtUniqueId meet: on one host in a UnixStore, and where the environment says that other hosts
// may come, in a TcpStore of rank 0's. Its port must be known before rank 0 makes its communicator, so making the id
// takes it, and this process holds it from then on. Not for what the id's bytes look like: unique_id.h.
#pragma once

#include <memory>
#include <string>

#include "core/bootstrap/network.h"
#include "core/bootstrap/store.h"
#include "ringtree.h"

namespace ringtree::capi {

/// How many ports of ids that rank 0 has not come for a process holds; when another id is made, the oldest is given
/// back. Bounds the descriptors of a process that makes ids for children, whose coming it never sees.
inline constexpr size_t kMaxHeldPorts = 64;

/// A new id. Other hosts may come where RINGTREE_IFNAME or RINGTREE_HOSTID is set, or MASTER_ADDR and a secret:
/// programs of one host find MASTER_ADDR set as well, and without a secret no other host could join. UsageError: as
/// own_rails() and Network::from_environment(); WorldError: cannot listen.
rtUniqueId announce_meeting();

struct Meeting {
  std::shared_ptr<Store> store;
  std::string prefix;  // of the communicator's keys
};

/// Goes to where the ranks of `id` meet; if that is over the network, `network` takes the interface that leads there,
/// unless it names another. Throws rtInvalidArgument (no id), rtInvalidUsage (one of another host, or one whose port
/// this rank 0 should hold and does not), and as the constructors of the stores.
Meeting join_meeting(const rtUniqueId& id, int rank, Network& network, Deadline deadline);

}  // namespace ringtree::capi
