// Network: how a rank reaches ranks of other hosts: which interfaces, how many streams, with which secret. Ranks of one
// host never use it. Not for opening anything: connect_remote.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/net/address.h"
#include "core/net/secret.h"

namespace ringtree {

inline constexpr int kMaxStreams = 16;  // to each rank of another host
inline constexpr size_t kMaxRails = 8;

struct Network {
  /// Which interfaces carry data, as RINGTREE_IFNAME says it ("eth0,^lo", core/net/interfaces.h); several are rails:
  /// streams are spread over them. "": the one from which `towards` is reached.
  std::string interfaces;
  /// A host that all ranks reach, where known: MASTER_ADDR, or that of the store.
  std::string towards;
  /// Stands for the host in place of what the kernel says (RINGTREE_HOSTID): ranks with different ones meet over TCP,
  /// also on one machine.
  std::string host_id;
  int num_streams = 0;     // RINGTREE_STREAMS; alike on all ranks. 0: between two ranks one a rail that both have
  bool checksums = false;  // of payloads (RINGTREE_CRC); alike on all ranks
  std::shared_ptr<const Secret> secret = std::make_shared<const Secret>(Secret::none());

  /// From RINGTREE_IFNAME, RINGTREE_HOSTID, RINGTREE_STREAMS, RINGTREE_CRC, RINGTREE_SECRET_FILE or RINGTREE_SECRET,
  /// and MASTER_ADDR. Throws UsageError that names the variable.
  static Network from_environment();
};

/// Own addresses to listen on, one a rail, without ports: of the interfaces that were asked for; else the one from
/// which `towards` is reached; else, where hosts are told apart by host ids, loopback. UsageError: nothing fits, it is
/// not known which interface to take, or one other than loopback is to be used without a secret.
std::vector<Address> own_rails(const Network& network);

}  // namespace ringtree
