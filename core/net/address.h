// Address: one IPv4 or IPv6 address with a port, a value; as text, as sockaddr, and where it comes from: names,
// sockets, the kernel's routes. Not for which of the own addresses a job uses (interfaces.h), nor for Unix sockets.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringtree {

/// Well-formed once it exists: IPv4 or IPv6. Safe to copy between threads.
class Address {
 public:
  /// "10.0.0.1:80", "[::1]:80", "[fe80::1%eth0]:80" (or "%2", the interface's index; link-local addresses only). Empty
  /// for everything else: names, ports above 65535 or with leading zeros, interfaces that this host lacks.
  static std::optional<Address> parse(std::string_view text);

  /// 127.0.0.1, with port 0.
  static Address loopback();

  /// From what a system call gave. UsageError unless it is IPv4 or IPv6 and `num_bytes` are enough for it.
  static Address from_raw(const sockaddr* raw, socklen_t num_bytes);

  /// What parse() reads as this address, the shortest spelling (RFC 5952).
  std::string to_text() const;
  /// The same without the port, as resolve() takes it: "10.0.0.1", "::1", "fe80::1%eth0".
  std::string host_text() const;

  int family() const { return raw_.ss_family; }  // AF_INET or AF_INET6
  uint16_t port() const;                         // in this host's byte order
  Address with_port(uint16_t port) const;

  /// 127.0.0.0/8 and ::1, also as IPv4 inside IPv6 (::ffff:127.0.0.1).
  bool is_loopback() const;
  /// 0.0.0.0 and ::, also as IPv4 inside IPv6: a listener there would be reachable through every interface.
  bool is_wildcard() const;

  /// For system calls; valid as long as this object.
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&raw_); }
  socklen_t size() const;

  /// Same family, address, port and scope. ::ffff:10.0.0.1 is not 10.0.0.1: sockets of one family don't take the other.
  friend bool operator==(const Address& a, const Address& b);

 private:
  Address() = default;
  std::string_view host_bytes() const;  // 4 or 16, in network order
  uint32_t scope() const;               // of IPv6: the index of the interface, or 0

  sockaddr_storage raw_{};
};

/// All addresses of `host` (a name, or an address as digits) with `port`, in the resolver's order, each once.
/// UsageError naming the host if there is none. Takes as long as the resolver is configured to (/etc/resolv.conf),
/// which no deadline can shorten: for when a job starts.
std::vector<Address> resolve(const std::string& host, uint16_t port);

/// Where a TCP or UDP socket is bound, and what it is connected to; empty if it is not or is of another family.
std::optional<Address> local_address(int socket);
std::optional<Address> remote_address(int socket);

/// Which own address the kernel would send from to reach `to`, with port 0; empty if there is no route. Sends nothing.
std::optional<Address> source_address_towards(const Address& to);

}  // namespace ringtree
