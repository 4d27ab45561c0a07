// See agreement.h.
#include "core/engine/agreement.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/bootstrap/unix_socket.h"
#include "core/model/probed_constants.h"

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

Machine agreed_machine(const std::string& text) {
  const std::optional<Machine> machine = parse_machine(text);
  if (!machine) throw WorldError("rank 0 sent malformed constants of the machine: " + text);
  return *machine;
}

// What rank 0 has for `auto` to choose by: its profile, else the constants that it probed for the model, as text.
std::string to_choose_by(const Mesh& mesh, const Settings& settings) {
  const std::vector<int>& hosts = mesh.hosts();
  const bool asks_closed_form =
      hosts.size() > 1 && !settings.emulation && std::ranges::all_of(hosts, [](int host) { return host == 0; });
  if (!settings.profile.empty() || !settings.probe || !asks_closed_form) return settings.profile;
  // The others wait for it: a part of the time that they have.
  return machine_text(settings.probe(settings.timeout_s / 8));
}

}  // namespace

// What rank 0 has counts on all ranks: a profile is a file, of which not every rank need see the same one, and no two
// probes of a machine give the same constants.
Agreed agree_at_start(Rendezvous& rendezvous, const Mesh& mesh, int rank, const Settings& settings) {
  const auto agree = [&](const char* what, const std::string& mine) {
    if (rank != 0) return rendezvous.get(what, Deadline::after_seconds(settings.timeout_s));
    rendezvous.set(what, mine);
    return mine;
  };
  Agreed agreed;
  agreed.choosing = agree("profile", rank == 0 ? to_choose_by(mesh, settings) : "");
  agreed.token = agree("token", rank == 0 ? random_hex(16) : "");
  return agreed;
}

Selection selection_of(Session& session, const Settings& settings, const std::string& choosing) {
  Selection selection;
  selection.num_ranks = session.world_size();
  selection.num_channels = settings.num_channels;
  selection.emulation = settings.emulation;
  selection.shared_buffers = settings.shared_buffers;
  selection.deterministic = settings.deterministic;
  selection.hosts = settings.emulation ? HostGroups::blocks(selection.num_ranks, settings.emulation->ranks_per_host)
                                       : HostGroups(session.mesh().hosts());
  if (is_machine_text(choosing))
    selection.machine = agreed_machine(choosing);
  else
    selection.profile = Profile::parse(choosing);
  selection.machine.num_cores = count_cores(session, session.rank());
  selection.ranks_per_core = ranks_per_core(session);
  selection.own_cores = selection.ranks_per_core <= 1;
  return selection;
}

}  // namespace ringtree
