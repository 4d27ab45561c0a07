// See interfaces.h.
#include "core/net/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/error.h"
#include "core/base/printable.h"
#include "core/net/socket.h"

namespace ringtree {
namespace {

bool is_link_local(const sockaddr* raw) {
  sockaddr_in6 address;
  if (raw->sa_family != AF_INET6) return false;
  std::memcpy(&address, raw, sizeof(address));
  return IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr);
}

std::string listed(const std::vector<Interface>& all) {
  std::string text;
  for (const Interface& item : all) {
    const std::string address = item.address.to_text();
    text += (text.empty() ? "" : ", ") + printable(item.name) + " (" + address.substr(0, address.rfind(':')) + ")";
  }
  return text.empty() ? "none" : text;
}

struct PatternItem {
  bool excludes;
  bool exact;
  std::string_view name;

  bool fits(const Interface& item) const {
    return exact ? item.name == name : std::string_view(item.name).substr(0, name.size()) == name;
  }
};

// What the kernel allows in a name, less our own signs; spaces are most likely meant to follow a comma.
bool is_name_character(char c) { return c > ' ' && c < 0x7f && c != '/' && c != '^' && c != '='; }

std::vector<PatternItem> parse_pattern(std::string_view pattern, const std::vector<Interface>& all) {
  std::vector<PatternItem> items;
  for (std::string_view rest = pattern;;) {
    const size_t comma = rest.find(',');
    std::string_view name = rest.substr(0, comma);
    const auto take = [&name](char sign) {
      const bool there = !name.empty() && name.front() == sign;
      if (there) name.remove_prefix(1);
      return there;
    };
    const bool excludes = take('^');
    const bool exact = take('=');
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_character)) {
      throw UsageError("RINGTREE_IFNAME '" + printable(pattern) +
                       "' is not a list of interfaces: write names separated by commas without spaces, each a prefix " +
                       "(eth) or exact (=eth0), with ^ in front to exclude it; available: " + listed(all));
    }
    items.push_back({excludes, exact, name});
    if (comma == std::string_view::npos) return items;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

std::vector<Interface> interfaces_that_are_up() {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) throw WorldError(errno_text("cannot list the network interfaces", errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(raw, ::freeifaddrs);
  std::vector<Interface> found;
  for (const int family : {AF_INET, AF_INET6}) {
    const socklen_t num_bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    for (const ifaddrs* item = all.get(); item != nullptr; item = item->ifa_next) {
      if ((item->ifa_flags & IFF_UP) == 0 || item->ifa_addr == nullptr) continue;
      if (item->ifa_addr->sa_family != family || is_link_local(item->ifa_addr)) continue;
      found.push_back({item->ifa_name, Address::from_raw(item->ifa_addr, num_bytes).with_port(0)});
    }
  }
  return found;
}

std::vector<Interface> choose_interfaces(const std::vector<Interface>& all, std::string_view pattern) {
  std::vector<PatternItem> items = parse_pattern(pattern, all);
  const auto excluded = [&items](const Interface& item) {
    return std::any_of(items.begin(), items.end(),
                       [&](const PatternItem& rule) { return rule.excludes && rule.fits(item); });
  };
  const bool only_excludes =
      std::all_of(items.begin(), items.end(), [](const PatternItem& rule) { return rule.excludes; });
  if (only_excludes) items.push_back({false, false, ""});  // the empty prefix: everything
  std::vector<Interface> chosen;
  for (const PatternItem& rule : items) {
    if (rule.excludes) continue;
    for (const Interface& item : all) {
      if (!rule.fits(item) || excluded(item)) continue;
      const auto same =
          std::find_if(chosen.begin(), chosen.end(), [&](const auto& one) { return one.name == item.name; });
      if (same == chosen.end()) {
        chosen.push_back(item);
      } else if (same->address.family() == AF_INET6 && item.address.family() == AF_INET) {
        *same = item;
      }
    }
  }
  if (chosen.empty()) {
    throw UsageError("RINGTREE_IFNAME '" + printable(pattern) +
                     "' matches no interface that is up; available: " + listed(all));
  }
  return chosen;
}

}  // namespace ringtree
