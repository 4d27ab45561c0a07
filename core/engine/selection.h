// What `auto` runs: the configuration, and why. Every rank must choose alike, so everything that the choice depends on
// is agreed when the communicator is made. The engine knows algorithms only through the table that it is handed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/prepared_call.h"
#include "core/engine/profile.h"
#include "core/engine/settings.h"
#include "core/model/estimate.h"
#include "core/schedule/cost_summary.h"
#include "core/schedule/host_groups.h"

namespace ringtree {

/// What the engine needs of core/algorithms.
struct AlgorithmTable {
  std::function<Schedule(std::string_view name, Collective collective, int root, const HostGroups& hosts)> make;
  std::function<std::vector<Candidate>(Collective collective, const HostGroups& hosts)> candidates;
};

/// What a choice depends on beside the call.
struct Selection {
  int num_ranks = 1;
  HostGroups hosts = HostGroups::single(1);  // of num_ranks ranks; an emulated cluster's where there is one
  Machine machine = default_machine();
  bool own_cores = false;
  double ranks_per_core = 1;            // on several hosts: where most ranks share their cores
  std::optional<HostLinks> links = {};  // as they were probed, where they were
  bool shared_buffers = false;
  bool deterministic = false;  // as Settings'
  int num_channels = 1;
  std::optional<Cluster> emulation;
  Profile profile;

  /// Ranks run on several hosts, and not only in an emulation.
  bool really_on_several_hosts() const { return !emulation && hosts.num_hosts() > 1; }
};

/// The configuration and one line with the figures: from the profile where it has a rule, else by the closed-form
/// model, or for several hosts, emulated or real, by timing every schedule with the sliced recurrence.
std::pair<Configuration, std::string> choose_configuration(const AlgorithmTable& table, const CallKind& kind,
                                                           const Selection& selection);

/// Whether an output of so many bytes, in other memory than the input, is written around the caches where nobody said:
/// it would push everything else out of them, and nobody reads it before it has left them. `has_input`: false on a rank
/// that only receives, as of a broadcast; it has half as much to keep in them, and what it got is often sent on.
bool streams_by_default(size_t output_bytes, bool has_input);

/// Whether the result's bits depend on the order in which the contributions of ranks are folded.
bool order_matters(Dtype dtype, ReduceOp op);

/// "" if a call of this kind can run with the protocol here, else why not.
std::string why_not(Protocol protocol, const Selection& selection);

}  // namespace ringtree
