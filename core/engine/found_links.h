// What this process has found of the links to another host, as rank 0 of earlier communicators: programs make a
// communicator for each of their groups, and need not wait for a probe each time. Not for probing
// (core/net/link_probe.h), nor for agreeing on what was found (agreement.h).
#pragma once

#include <optional>

#include "core/bootstrap/mesh.h"
#include "core/model/cluster.h"

namespace ringtree {

/// From any thread. By the host of rank `other`, the own address and the number of streams; none while the streams are
/// not there, or no more.
std::optional<HostLinks> found_links_to(const Mesh& mesh, int other);
void remember_links_to(const Mesh& mesh, int other, const HostLinks& links);

}  // namespace ringtree
