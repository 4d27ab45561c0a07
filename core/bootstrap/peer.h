// PeerIdentity: what a rank tells all others about itself before they connect: who it is, where it runs (from the
// kernel, not guessed from host names), where it listens, and the settings that all ranks must share. It is read from a
// store that anybody in the job may write: decode_identity() checks every length and number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringtree {

inline constexpr size_t kMaxSettingsBytes = size_t{64} << 10;
inline constexpr size_t kTokenBytes = 32;

struct PeerIdentity {
  int rank = 0;
  int world_size = 1;
  int pid = 0;                     // as its own pid namespace counts
  uint32_t uid = 0;                // effective user
  std::string boot_id;             // equal: the same running kernel, hence the same host
  uint64_t pid_namespace = 0;      // inode of the namespace; 0: /proc does not tell
  uint64_t network_namespace = 0;  // likewise; abstract sockets end at its border
  std::string host_id;             // stands for both where a user said so, else empty (Network::host_id)
  std::string host_name;           // for messages only
  std::string socket_name;         // abstract name where it listens; empty when world_size is 1
  std::string token;               // kTokenBytes random digits: who shows them has read this identity
  std::string settings;            // opaque here; must be equal on all ranks
  // Where ranks of other hosts reach it (core/net/address.h), one a rail; none where it knows that all share its host,
  // or if it has none, and then `why_no_address` says why.
  std::vector<std::string> addresses;
  std::string why_no_address;

  bool operator==(const PeerIdentity&) const = default;
};

/// This process as `rank`, with a fresh socket name and token. WorldError: /proc is not there; UsageError: rank outside
/// 0..world_size-1, settings longer than kMaxSettingsBytes, or a host id longer than 255 bytes.
PeerIdentity describe_self(int rank, int world_size, std::string settings, std::string host_id = {});

/// Whether two ranks share memory: they run on one kernel and in one network namespace, where abstract sockets reach;
/// or both were given the same host id there. Others meet over TCP.
bool share_host(const PeerIdentity& a, const PeerIdentity& b);

/// By rank, the number of its host, counted from 0 in the order in which the hosts' first ranks come.
std::vector<int> hosts_of(const std::vector<PeerIdentity>& identities);

/// "rank 2 (pid 4711 on nodeA)", for messages.
std::string to_text(const PeerIdentity& identity);

std::string encode_identity(const PeerIdentity& identity);

/// Nothing: not an identity of this version, or one with impossible fields.
std::optional<PeerIdentity> decode_identity(std::string_view data);

}  // namespace ringtree
