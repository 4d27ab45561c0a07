// Where ranks listen for those of other hosts, and how they tell each other. See connect_remote.h.
#include "core/base/error.h"
#include "core/base/printable.h"
#include "core/bootstrap/connect_remote.h"
#include "core/bootstrap/wire.h"
#include "core/net/socket.h"
#include "core/net/tcp_socket.h"

namespace ringtree {
namespace {

constexpr size_t kMaxAddressBytes = 128;
constexpr size_t kMaxReasonBytes = 1024;

std::string key_of(const std::string& prefix, int rank) { return prefix + "/address/" + std::to_string(rank); }

std::string encode(const std::vector<Address>& addresses) {
  ByteWriter out;
  out.number(addresses.size(), 1);
  for (const Address& address : addresses) out.text(address.to_text());
  return out.take();
}

std::vector<Address> decode(const std::string& record, const PeerIdentity& from) {
  ByteReader in(record);
  const uint64_t count = in.number(1);
  if (count == 0) {
    const std::string why(in.text(kMaxReasonBytes));
    if (in.done())
      throw PeerError(to_text(from) + " cannot be reached by other hosts: " + printable(why, kMaxReasonBytes));
  }
  std::vector<Address> addresses;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::optional<Address> address = Address::parse(in.text(kMaxAddressBytes));
    if (!address || address->is_wildcard() || address->port() == 0) break;
    addresses.push_back(*address);
  }
  if (!in.done() || addresses.size() != count || count < 1 || count > kMaxRails)
    throw MismatchError(to_text(from) + " published addresses that cannot be read: run one version of ringtree");
  return addresses;
}

}  // namespace

RemoteListeners listen_for_remote(const Network& network, bool one_machine, int backlog) {
  RemoteListeners listeners;
  for (const Address& rail : own_rails(network, one_machine)) {
    SocketResult made = listen_tcp(rail, backlog);
    if (made.error != 0) throw WorldError(errno_text("cannot listen on " + rail.to_text(), made.error));
    listeners.addresses.push_back(*local_address(made.socket.get()));
    listeners.sockets.push_back(std::move(made.socket));
  }
  return listeners;
}

void publish_no_address(Store& store, const std::string& prefix, int rank, const std::string& why) {
  ByteWriter out;
  out.number(0, 1).text(why.substr(0, kMaxReasonBytes));
  store.set(key_of(prefix, rank), out.take());
}

std::vector<std::vector<Address>> exchange_addresses(Store& store, const std::string& prefix,
                                                     const std::vector<PeerIdentity>& identities, int rank,
                                                     const std::vector<Address>& own, Deadline deadline) {
  store.set(key_of(prefix, rank), encode(own));
  std::vector<std::vector<Address>> all(identities.size());
  const PeerIdentity& self = identities[static_cast<size_t>(rank)];
  for (const PeerIdentity& peer : identities)
    if (!share_host(self, peer))
      all[static_cast<size_t>(peer.rank)] = decode(store.get(key_of(prefix, peer.rank), deadline), peer);
  return all;
}

}  // namespace ringtree
