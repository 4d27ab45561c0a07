// See meeting.h.
#include "core/capi/meeting.h"

#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/bootstrap/tcp_store.h"
#include "core/bootstrap/unix_store.h"
#include "core/capi/errors.h"
#include "core/capi/unique_id.h"
#include "core/net/tcp_socket.h"

namespace ringtree::capi {
namespace {

/// The listening sockets of ids that were made here and that no rank 0 has come for. A child that fork() makes has them
/// too, so that a process may make the id and then fork the ranks.
class HeldPorts {
 public:
  void hold(std::string random, Fd listener) {
    Fd oldest;  // closed after the lock is given up
    const std::lock_guard lock(mutex_);
    held_.emplace_back(std::move(random), std::move(listener));
    if (held_.size() <= kMaxHeldPorts) return;
    oldest = std::move(held_.front().second);
    held_.pop_front();
  }

  /// Not valid: there is none.
  Fd take(const std::string& random) {
    const std::lock_guard lock(mutex_);
    const auto entry = std::find_if(held_.begin(), held_.end(), [&](const auto& one) { return one.first == random; });
    if (entry == held_.end()) return {};
    Fd listener = std::move(entry->second);
    held_.erase(entry);
    return listener;
  }

 private:
  std::mutex mutex_;  // protects held_
  std::deque<std::pair<std::string, Fd>> held_;
};

HeldPorts& held_ports() {
  static auto* const ports = new HeldPorts;  // never destroyed: static destructors may make communicators
  return *ports;
}

bool other_hosts_may_come(const Network& network) {
  if (!network.interfaces.empty() || !network.host_id.empty()) return true;
  return !network.towards.empty() && !network.secret->empty();
}

// Rank 0's store, on the port that this process holds since it made the id.
std::shared_ptr<Store> open_held_port(const UniqueId& id, const Address& address, const Network& network,
                                      Deadline deadline) {
  Fd listener = held_ports().take(id.random);
  if (!listener.valid())
    refuse_usage("this process does not hold the port " + address.to_text() +
                 " of the unique id: rank 0 must be the process that called rtGetUniqueId(), or forked from it, an id "
                 "serves once, and of those that were not used yet the newest " +
                 std::to_string(kMaxHeldPorts) + " count");
  return std::make_shared<TcpStore>(std::move(listener), address, network.secret, deadline);
}

}  // namespace

rtUniqueId announce_meeting() {
  const Network network = Network::from_environment();
  if (!other_hosts_may_come(network)) return encode(make_unique_id(std::nullopt));
  const Address own = own_rails(network).front();
  SocketResult listener = listen_tcp(own, SOMAXCONN);
  if (listener.error != 0) throw WorldError(errno_text("cannot listen on " + own.to_text(), listener.error));
  const UniqueId id = make_unique_id(local_address(listener.socket.get()));
  held_ports().hold(id.random, std::move(listener.socket));
  return encode(id);
}

Meeting join_meeting(const rtUniqueId& bytes, int rank, Network& network, Deadline deadline) {
  const UniqueId id = decode(bytes);
  const bool stays_here = !id.address || id.address->is_loopback();
  if (stays_here && id.host != this_host())
    refuse_usage(
        "the unique id was made on another host, for ranks of that host alone: for several hosts, set "
        "RINGTREE_SECRET_FILE, and RINGTREE_IFNAME or MASTER_ADDR, before rank 0 calls rtGetUniqueId()");
  if (!id.address) return {std::make_shared<UnixStore>(id.text(), rank, deadline), "ringtree"};
  if (network.towards.empty()) network.towards = id.address->host_text();
  // The port may be another job's by now, with the same secret: its ranks have other keys.
  const std::string prefix = "ringtree/" + id.random;
  if (rank == 0) return {open_held_port(id, *id.address, network, deadline), prefix};
  return {std::make_shared<TcpStore>(id.address->host_text(), id.address->port(), rank, network.secret, deadline),
          prefix};
}

}  // namespace ringtree::capi
