// See agreement.h.
#include "core/engine/agreement.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/bootstrap/unix_socket.h"
#include "core/engine/found_links.h"
#include "core/model/probed_constants.h"
#include "core/net/link_probe.h"

namespace ringtree {
namespace {

// Of the ranks that run on one kernel with `rank`: hosts may be network namespaces of one machine. Every rank reads the
// same pages, so every rank counts alike: nothing needs to be agreed.
bool on_one_kernel(Session& session, int a, int b) {
  return session.mesh().peer(a).boot_id == session.mesh().peer(b).boot_id;
}

int count_cores(Session& session, int rank) {
  std::array<uint64_t, kCpuMaskWords> all{};
  for (int other = 0; other < session.world_size(); ++other)
    for (size_t i = 0; i < kCpuMaskWords && on_one_kernel(session, rank, other); ++i)
      all[i] |= session.members().page(other).cpu_mask[i];
  int count = 0;
  for (uint64_t word : all) count += std::popcount(word);
  return std::max(1, count);
}

// The lowest rank that does not share rank 0's host; none if all do.
std::optional<int> first_remote(const Mesh& mesh) {
  const std::vector<int>& hosts = mesh.hosts();
  const auto found = std::ranges::find_if(hosts, [](int host) { return host != 0; });
  return found == hosts.end() ? std::nullopt : std::optional(static_cast<int>(found - hosts.begin()));
}

// Of the kernel on which most ranks share their cores.
double ranks_per_core(Session& session) {
  double most = 0;
  for (int rank = 0; rank < session.world_size(); ++rank) {
    int num_ranks = 0;
    for (int other = 0; other < session.world_size(); ++other) num_ranks += on_one_kernel(session, rank, other) ? 1 : 0;
    most = std::max(most, static_cast<double>(num_ranks) / count_cores(session, rank));
  }
  return most;
}

HostLinks agreed_links(const std::string& text) {
  const std::optional<HostLinks> links = parse_links(text);
  if (!links) throw WorldError("rank 0 sent malformed constants of the links between hosts: " + text);
  return *links;
}

Machine agreed_machine(const std::string& text) {
  const std::optional<Machine> machine = parse_machine(text);
  if (!machine) throw WorldError("rank 0 sent malformed constants of the machine: " + text);
  return *machine;
}

// In the place of the constants: the links between hosts are probed first, then rank 0 says what was found.
constexpr const char* kProbeLinks = "probe links\n";
constexpr double kMostSeconds = 0.25;        // of that, on links that carry 64 KB in less
constexpr double kLeastSeconds = 0.02;       // in less nothing is found that is better than what is assumed
constexpr double kShareOfMeeting = 1 / 8.0;  // of the time that is left: the others wait meanwhile

double share_of(Deadline deadline) { return static_cast<double>(deadline.left_ns()) * 1e-9 * kShareOfMeeting; }

// What rank 0 has for `auto` to choose by beside a profile, as text.
std::string constants_to_choose_by(const Mesh& mesh, const Settings& settings, Deadline deadline) {
  if (settings.emulation || mesh.world_size() == 1) return "";
  if (const std::optional<int> other = first_remote(mesh)) {
    if (settings.links) return links_text(*settings.links);
    if (!settings.probes_links || !settings.probes_links()) return "";
    if (const std::optional<HostLinks> known = found_links_to(mesh, *other)) return links_text(*known);
    return share_of(deadline) < kLeastSeconds ? "" : kProbeLinks;
  }
  return settings.probe && settings.profile.empty() ? machine_text(settings.probe(share_of(deadline))) : "";
}

// On rank 0, which asks, and on the rank that answers; `other` is the other of the two. Returns what rank 0 has found,
// as text.
std::string probed_links(const Mesh& mesh, int other, Deadline deadline) {
  const std::vector<int> streams = mesh.streams_to(other);
  // Half, so that who waits for the result seldom runs out of time first: this error names the rank that did not
  // answer.
  const Deadline soon{now_ns() + deadline.left_ns() / 2};
  std::optional<ProbedLink> found;
  bool stayed = true;
  try {
    if (mesh.rank() == 0)
      stayed = (found = probe_link(streams, std::min(kMostSeconds, share_of(deadline)), soon)).has_value();
    else
      stayed = answer_link_probe(streams, soon);
  } catch (const TimeoutError&) {
    throw TimeoutError(to_text(mesh.peer(other)) + " did not answer in time while the links between hosts were probed",
                       {other});
  } catch (const WorldError& error) {
    throw WorldError(to_text(mesh.peer(other)) + ": " + error.what());
  }
  if (!stayed) throw EndedPeer(other, to_text(mesh.peer(other)) + " ended while the links between hosts were probed");
  if (!found) return "";
  const HostLinks links = with_probed({found->alpha_s, found->beta_Bps.value_or(default_host_links().beta_Bps)});
  if (found->beta_Bps) remember_links_to(mesh, other, links);  // else there may be more time for it later
  return links_text(links);
}

}  // namespace

// What rank 0 has counts on all ranks: a profile is a file, of which not every rank need see the same one, and no two
// probes of a machine give the same constants.
Agreed agree_at_start(Rendezvous& rendezvous, const Mesh& mesh, const Settings& settings, Deadline deadline) {
  const bool says = mesh.rank() == 0;
  const auto agree = [&](const char* what, const std::string& mine) {
    if (!says) return rendezvous.get(what, deadline);
    rendezvous.set(what, mine);
    return mine;
  };
  Agreed agreed;
  // One message of the store's to each rank: a line with the constants, which may be empty, and the profile; or
  // nothing.
  std::string mine;
  if (says) {
    mine = constants_to_choose_by(mesh, settings, deadline);
    if (mine.empty() && !settings.profile.empty()) mine = "\n";
    mine += settings.profile;
  }
  const std::string choosing = agree("choosing", mine);
  const size_t end = choosing.find('\n');
  if (end != std::string::npos) {
    agreed.profile = choosing.substr(end + 1);
    if (end > 0) agreed.constants = choosing.substr(0, end + 1);
  } else if (!choosing.empty()) {
    throw WorldError("rank 0 sent malformed text to choose by: " + choosing);
  }
  if (agreed.constants == kProbeLinks) {
    const int answers = first_remote(mesh).value_or(-1);
    std::string found;
    if (says || mesh.rank() == answers) found = probed_links(mesh, says ? answers : 0, deadline);
    agreed.constants = agree("links", found);
  }
  agreed.token = agree("token", says ? random_hex(16) : "");
  return agreed;
}

Selection selection_of(Session& session, const Settings& settings, const Agreed& agreed) {
  Selection selection;
  selection.num_ranks = session.world_size();
  selection.num_channels = settings.num_channels;
  selection.emulation = settings.emulation;
  selection.shared_buffers = settings.shared_buffers;
  selection.deterministic = settings.deterministic;
  selection.hosts = settings.emulation ? HostGroups::blocks(selection.num_ranks, settings.emulation->ranks_per_host)
                                       : HostGroups(session.mesh().hosts());
  selection.profile = Profile::parse(agreed.profile);
  if (is_links_text(agreed.constants))
    selection.links = agreed_links(agreed.constants);
  else if (!agreed.constants.empty())
    selection.machine = agreed_machine(agreed.constants);
  selection.machine.num_cores = count_cores(session, session.rank());
  selection.ranks_per_core = ranks_per_core(session);
  selection.own_cores = selection.ranks_per_core <= 1;
  return selection;
}

}  // namespace ringtree
