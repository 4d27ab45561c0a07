// See found_links.h.
#include "core/engine/found_links.h"

#include <map>
#include <mutex>
#include <string>

namespace ringtree {
namespace {

struct FoundLinks {
  std::mutex mutex;  // protects by_way
  std::map<std::string, HostLinks> by_way;
};

FoundLinks& found() {
  static FoundLinks one;
  return one;
}

std::string way_to(const Mesh& mesh, int other) {
  const PeerIdentity& peer = mesh.peer(other);
  const std::string from = mesh.own_address() ? mesh.own_address()->to_text() : "";
  return peer.boot_id + " " + std::to_string(peer.network_namespace) + " " + peer.host_id + " from " + from + " over " +
         std::to_string(mesh.streams_to(other).size());
}

}  // namespace

std::optional<HostLinks> found_links_to(const Mesh& mesh, int other) {
  const std::lock_guard lock(found().mutex);
  const auto links = found().by_way.find(way_to(mesh, other));
  return links == found().by_way.end() ? std::nullopt : std::optional(links->second);
}

void remember_links_to(const Mesh& mesh, int other, const HostLinks& links) {
  const std::lock_guard lock(found().mutex);
  found().by_way[way_to(mesh, other)] = links;
}

}  // namespace ringtree
