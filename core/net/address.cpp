// See address.h. sockaddr_storage is read and written through copies of the family's own struct: no aliasing to think
// of.
#include "core/net/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/printable.h"

namespace ringtree {
namespace {

template <typename SocketAddress>
SocketAddress copy_as(const sockaddr_storage& raw) {
  SocketAddress copy;
  std::memcpy(&copy, &raw, sizeof(copy));
  return copy;
}

// A decimal number without sign, spaces or leading zeros, so that an address has one spelling.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value = 0;
  if (text.empty() || (text.front() == '0' && text.size() > 1)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The index of an interface by name, else the number itself: an interface may be gone, or be in another namespace.
std::optional<uint32_t> parse_scope(const std::string& text) {
  if (text.size() >= IF_NAMESIZE) return std::nullopt;
  const uint32_t index = ::if_nametoindex(text.c_str());
  if (index > 0) return index;
  const std::optional<uint32_t> number = parse_number<uint32_t>(text);
  return number == 0u ? std::nullopt : number;
}

std::optional<sockaddr_in> parse_v4(const std::string& host) {
  sockaddr_in raw{};
  raw.sin_family = AF_INET;
  if (::inet_pton(AF_INET, host.c_str(), &raw.sin_addr) != 1) return std::nullopt;
  return raw;
}

std::optional<sockaddr_in6> parse_v6(const std::string& host) {
  const size_t percent = host.find('%');
  sockaddr_in6 raw{};
  raw.sin6_family = AF_INET6;
  if (::inet_pton(AF_INET6, host.substr(0, percent).c_str(), &raw.sin6_addr) != 1) return std::nullopt;
  if (percent == std::string::npos) return raw;
  const std::optional<uint32_t> scope = parse_scope(host.substr(percent + 1));
  if (!scope || !IN6_IS_ADDR_LINKLOCAL(&raw.sin6_addr)) return std::nullopt;
  raw.sin6_scope_id = *scope;
  return raw;
}

using AskForAddress = int (*)(int socket, sockaddr* raw, socklen_t* num_bytes);

std::optional<Address> ask(AskForAddress question, int socket) {
  sockaddr_storage raw{};
  socklen_t num_bytes = sizeof(raw);
  if (question(socket, reinterpret_cast<sockaddr*>(&raw), &num_bytes) != 0) return std::nullopt;
  if (raw.ss_family != AF_INET && raw.ss_family != AF_INET6) return std::nullopt;
  return Address::from_raw(reinterpret_cast<const sockaddr*>(&raw), num_bytes);
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  // A zero byte would end the text early for the C functions below.
  if (colon == std::string_view::npos || text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::optional<uint16_t> port = parse_number<uint16_t>(text.substr(colon + 1));
  const std::string host(text.substr(0, colon));
  if (!port) return std::nullopt;
  Address result;
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    const std::optional<sockaddr_in6> raw = parse_v6(host.substr(1, host.size() - 2));
    if (!raw) return std::nullopt;
    std::memcpy(&result.raw_, &*raw, sizeof(*raw));
  } else {
    const std::optional<sockaddr_in> raw = parse_v4(host);
    if (!raw) return std::nullopt;
    std::memcpy(&result.raw_, &*raw, sizeof(*raw));
  }
  return result.with_port(*port);
}

Address Address::loopback() {
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Address result;
  std::memcpy(&result.raw_, &ipv4, sizeof ipv4);
  return result;
}

Address Address::from_raw(const sockaddr* raw, socklen_t num_bytes) {
  Address result;
  if (raw != nullptr && num_bytes >= sizeof(raw->sa_family)) {
    result.raw_.ss_family = raw->sa_family;
    if ((result.family() == AF_INET || result.family() == AF_INET6) && num_bytes >= result.size()) {
      std::memcpy(&result.raw_, raw, result.size());
      return result;
    }
  }
  throw UsageError("only IPv4 and IPv6 addresses are supported, not family " + std::to_string(result.family()) +
                   " with " + std::to_string(num_bytes) + " bytes");
}

std::string Address::to_text() const {
  const std::string host = family() == AF_INET6 ? "[" + host_text() + "]" : host_text();
  return host + ":" + std::to_string(port());
}

std::string Address::host_text() const {
  char host[INET6_ADDRSTRLEN];
  ::inet_ntop(family(), host_bytes().data(), host, sizeof(host));
  std::string text = host;
  if (scope() > 0) {
    char name[IF_NAMESIZE];
    text += "%" + (::if_indextoname(scope(), name) != nullptr ? std::string(name) : std::to_string(scope()));
  }
  return text;
}

uint16_t Address::port() const {
  return ntohs(family() == AF_INET ? copy_as<sockaddr_in>(raw_).sin_port : copy_as<sockaddr_in6>(raw_).sin6_port);
}

Address Address::with_port(uint16_t port) const {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  Address result = *this;
  const uint16_t in_network_order = htons(port);
  std::memcpy(reinterpret_cast<char*>(&result.raw_) + offsetof(sockaddr_in, sin_port), &in_network_order,
              sizeof(in_network_order));
  return result;
}

bool Address::is_loopback() const {
  using namespace std::string_view_literals;
  const std::string_view host = host_bytes();
  if (family() == AF_INET) return host[0] == 127;
  const bool is_v4 = host.substr(0, 12) == "\0\0\0\0\0\0\0\0\0\0\xff\xff"sv;
  return is_v4 ? host[12] == 127 : host == "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"sv;
}

bool Address::is_wildcard() const {
  using namespace std::string_view_literals;
  const std::string_view host = host_bytes();
  return host.find_first_not_of('\0') == std::string_view::npos || host == "\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0\0\0"sv;
}

socklen_t Address::size() const { return family() == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6); }

std::string_view Address::host_bytes() const {
  const auto* raw = reinterpret_cast<const char*>(&raw_);
  if (family() == AF_INET) return {raw + offsetof(sockaddr_in, sin_addr), sizeof(in_addr)};
  return {raw + offsetof(sockaddr_in6, sin6_addr), sizeof(in6_addr)};
}

uint32_t Address::scope() const { return family() == AF_INET ? 0 : copy_as<sockaddr_in6>(raw_).sin6_scope_id; }

bool operator==(const Address& a, const Address& b) {
  return a.family() == b.family() && a.port() == b.port() && a.scope() == b.scope() && a.host_bytes() == b.host_bytes();
}

std::vector<Address> resolve(const std::string& host, uint16_t port) {
  const addrinfo everything{};  // no hints at all would mean AI_ADDRCONFIG, which depends on what is up
  addrinfo* raw = nullptr;
  const bool readable = !host.empty() && host.find('\0') == std::string::npos;
  const int error = readable ? ::getaddrinfo(host.c_str(), nullptr, &everything, &raw) : EAI_NONAME;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(error == 0 ? raw : nullptr, ::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* item = all.get(); item != nullptr; item = item->ai_next) {
    if (item->ai_family != AF_INET && item->ai_family != AF_INET6) continue;
    const Address address = Address::from_raw(item->ai_addr, item->ai_addrlen).with_port(port);
    // An address comes once for each kind of socket, and may come for several lines of /etc/hosts.
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
  }
  if (addresses.empty()) {
    throw UsageError("cannot resolve host '" + printable(host) + "' (" +
                     ::gai_strerror(error == 0 ? EAI_NONAME : error) +
                     "): check its spelling, /etc/hosts and the name server");
  }
  return addresses;
}

std::optional<Address> local_address(int socket) { return ask(::getsockname, socket); }

std::optional<Address> remote_address(int socket) { return ask(::getpeername, socket); }

std::optional<Address> source_address_towards(const Address& to) {
  const Fd socket(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // Connecting a UDP socket looks up the route and binds the source address; no packet leaves.
  if (!socket.valid() || ::connect(socket.get(), to.raw(), to.size()) != 0) return std::nullopt;
  const std::optional<Address> from = local_address(socket.get());
  if (!from) return std::nullopt;
  return from->with_port(0);
}

}  // namespace ringtree
