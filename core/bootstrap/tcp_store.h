// TcpStore: the store of ranks on several hosts: rank 0 serves the map from a thread, on one address. Whoever connects
// first proves that it knows the job's secret (core/net/handshake.h); what then travels is not encrypted. Not for one
// host: UnixStore needs no port and no secret.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/bootstrap/socket_store.h"
#include "core/net/address.h"
#include "core/net/secret.h"

namespace ringtree {

class TcpStore final : public SocketStore {
 public:
  /// `host`, `port`: of rank 0, which listens on that very address and no other; others connect, trying all addresses
  /// of the host again until `deadline`. Port 0: rank 0 takes a free one (see address()). UsageError: the address is
  /// not one of this host's or is taken, the host is unknown, there is no secret and the address is not loopback, or
  /// the secret is another than rank 0's, or something else has the port, which keeps connections and for
  /// `stranger_seconds` says nothing; TimeoutError: rank 0 did not come.
  TcpStore(const std::string& host, uint16_t port, int rank, std::shared_ptr<const Secret> secret, Deadline deadline,
           double stranger_seconds = kStrangerSeconds);

  /// Rank 0's, on a socket that listens at `address` already: for who must tell the port before the store is made.
  /// UsageError: there is no secret and the address is not loopback.
  TcpStore(Fd listener, const Address& address, std::shared_ptr<const Secret> secret, Deadline deadline);

  /// Where rank 0 listens, as this rank reaches it.
  const Address& address() const { return address_; }

 private:
  // Long enough for a host that is busy.
  static constexpr double kStrangerSeconds = 30;

  void listen();
  void serve_on(Fd listener, const Address& address);
  Fd connect(Deadline deadline) override;
  enum class Met { rank_0, hangs_up, silent };
  Met shake_hands(const Address& address, int socket, Deadline deadline) const;
  void check_patience(const Address& stranger, int64_t since_ns) const;

  const std::string host_;
  uint16_t port_;
  const int rank_;
  const std::shared_ptr<const Secret> secret_;
  const int64_t stranger_ns_ = 0;
  Address address_ = Address::loopback();  // without a port until connected
};

}  // namespace ringtree
