// See found_links.h.
#include "core/engine/found_links.h"

#include <map>
#include <mutex>
#include <string>

namespace ringtree {
namespace {

struct FoundLinks {
  std::mutex mutex;  // protects by_host
  std::map<std::string, HostLinks> by_host;
};

FoundLinks& found() {
  static FoundLinks one;
  return one;
}

std::string host_of(const PeerIdentity& other) {
  return other.boot_id + " " + std::to_string(other.network_namespace) + " " + other.host_id;
}

}  // namespace

std::optional<HostLinks> found_links_to(const PeerIdentity& other) {
  const std::lock_guard lock(found().mutex);
  const auto links = found().by_host.find(host_of(other));
  return links == found().by_host.end() ? std::nullopt : std::optional(links->second);
}

void remember_links_to(const PeerIdentity& other, const HostLinks& links) {
  const std::lock_guard lock(found().mutex);
  found().by_host[host_of(other)] = links;
}

}  // namespace ringtree
