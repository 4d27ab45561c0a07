// Where ranks listen for those of other hosts, and what their identities say about it. See connect_remote.h.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/printable.h"
#include "core/bootstrap/connect_remote.h"
#include "core/net/socket.h"
#include "core/net/tcp_socket.h"

namespace ringtree {
namespace {

constexpr size_t kMaxReasonBytes = 1024;
constexpr const char* kNotAsked =
    "it expects ranks of its own host only: set RINGTREE_HOSTID on all ranks or on none, and on several hosts a store "
    "that they all reach";
constexpr const char* kOnlyLoopback =
    "the ranks run on several hosts, and the loopback interface connects none of them: set RINGTREE_IFNAME, or "
    "MASTER_ADDR to an address that all hosts reach";

std::vector<Address> parse_all(const PeerIdentity& identity) {
  std::vector<Address> addresses;
  for (const std::string& text : identity.addresses) {
    const std::optional<Address> address = Address::parse(text);
    if (!address || address->is_wildcard() || address->port() == 0 || addresses.size() == kMaxRails)
      throw MismatchError(to_text(identity) + " published addresses that cannot be read: run one version of ringtree");
    addresses.push_back(*address);
  }
  return addresses;
}

// What is wrong with the rank's addresses; "" if nothing is.
std::string why_not(const PeerIdentity& identity, const std::vector<Address>& addresses, bool one_machine) {
  if (addresses.empty()) return identity.why_no_address.empty() ? kNotAsked : identity.why_no_address;
  const bool only_loopback =
      std::all_of(addresses.begin(), addresses.end(), [](const Address& address) { return address.is_loopback(); });
  return only_loopback && !one_machine ? kOnlyLoopback : "";
}

}  // namespace

RemoteListeners listen_for_remote(const Network& network, int backlog) {
  RemoteListeners listeners;
  for (const Address& rail : own_rails(network)) {
    SocketResult made = listen_tcp(rail, backlog);
    if (made.error != 0) throw WorldError(errno_text("cannot listen on " + rail.to_text(), made.error));
    const std::optional<Address> bound = local_address(made.socket.get());
    if (!bound) throw WorldError("a socket that listens on " + rail.to_text() + " has no address");
    listeners.addresses.push_back(*bound);
    listeners.sockets.push_back(std::move(made.socket));
  }
  return listeners;
}

std::vector<std::vector<Address>> remote_addresses(const std::vector<PeerIdentity>& identities, int rank,
                                                   bool one_machine) {
  const PeerIdentity& self = identities[static_cast<size_t>(rank)];
  const std::string own = why_not(self, parse_all(self), one_machine);
  if (!own.empty()) throw UsageError(own);
  std::vector<std::vector<Address>> all(identities.size());
  for (const PeerIdentity& peer : identities) {
    if (share_host(self, peer)) continue;
    std::vector<Address>& addresses = all[static_cast<size_t>(peer.rank)];
    addresses = parse_all(peer);
    const std::string why = why_not(peer, addresses, one_machine);
    if (!why.empty() || addresses.empty())
      throw PeerError(to_text(peer) + " cannot be reached by other hosts: " + printable(why, kMaxReasonBytes));
  }
  return all;
}

}  // namespace ringtree
