// See network.h.
#include "core/bootstrap/network.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/net/interfaces.h"

namespace ringtree {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

int number_of(const char* name, const std::string& text, int least, int most) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != '\0' || value < least || value > most)
    throw UsageError(std::string(name) + " must be a number within " + std::to_string(least) + ".." +
                     std::to_string(most));
  return static_cast<int>(value);
}

// Where the kernel would send from to reach `host`.
std::optional<Address> address_towards(const std::string& host) {
  for (const Address& address : resolve(host, 9))  // any port: nothing is sent
    if (const std::optional<Address> own = source_address_towards(address)) return own->with_port(0);
  return std::nullopt;
}

}  // namespace

Network Network::from_environment() {
  Network network;
  network.interfaces = variable("RINGTREE_IFNAME");
  network.towards = variable("MASTER_ADDR");
  network.host_id = variable("RINGTREE_HOSTID");
  if (const std::string text = variable("RINGTREE_STREAMS"); !text.empty())
    network.num_streams = number_of("RINGTREE_STREAMS", text, 1, kMaxStreams);
  if (const std::string text = variable("RINGTREE_CRC"); !text.empty())
    network.checksums = number_of("RINGTREE_CRC", text, 0, 1) == 1;
  network.secret = std::make_shared<const Secret>(Secret::from_environment());
  return network;
}

std::vector<Address> own_rails(const Network& network) {
  std::vector<Address> rails;
  if (!network.interfaces.empty()) {
    for (const Interface& chosen : choose_interfaces(interfaces_that_are_up(), network.interfaces))
      rails.push_back(chosen.address);
  } else if (!network.towards.empty()) {
    const std::optional<Address> own = address_towards(network.towards);
    if (!own)
      throw UsageError("no interface of this host leads to " + network.towards +
                       ": set RINGTREE_IFNAME to the one that leads to the other ranks");
    rails.push_back(*own);
  } else if (!network.host_id.empty()) {
    rails.push_back(Address::loopback());
  } else {
    throw UsageError("the ranks run on several hosts, and nothing says which network connects them: set " +
                     std::string("RINGTREE_IFNAME (for example eth0), or MASTER_ADDR"));
  }
  if (rails.size() > kMaxRails) rails.erase(rails.begin() + kMaxRails, rails.end());
  const bool only_loopback = std::all_of(rails.begin(), rails.end(), [](const Address& a) { return a.is_loopback(); });
  if (!only_loopback && network.secret->empty())
    throw UsageError("ranks on several hosts need a secret, or anybody on the network could join: write one into a " +
                     std::string("file that only you can read and set RINGTREE_SECRET_FILE to its path on every rank"));
  return rails;
}

}  // namespace ringtree
