// Hosts and the links between them as the models see them: a latency and a rate, alike for all pairs. Only what the
// emulated clusters of core/transport/shaped have as well; real machines have more. Which ranks live where is a
// HostGroups.
#pragma once

namespace ringtree {

/// Inside a host messages take no time.
struct HostLinks {
  double alpha_s = 0;     // from the last byte's departure to its arrival on another host
  double beta_Bps = 1e9;  // bytes per second that leave a host
};

/// Equal hosts with ranks in blocks: what is emulated.
struct Cluster {
  int num_hosts = 1;
  int ranks_per_host = 1;  // rank r lives on host r / ranks_per_host
  double alpha_s = 0;      // as in HostLinks
  double beta_Bps = 1e9;

  int num_ranks() const { return num_hosts * ranks_per_host; }
  int host_of(int rank) const { return rank / ranks_per_host; }
  HostLinks links() const { return {alpha_s, beta_Bps}; }
};

}  // namespace ringtree
