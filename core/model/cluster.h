// A cluster as the models see it: hosts with several ranks, and links between hosts with a latency and a rate. Only
// what the emulated clusters of core/transport/shaped have as well; real machines have more.
#pragma once

namespace ringtree {

struct Cluster {
  int num_hosts = 1;
  int ranks_per_host = 1;  // rank r lives on host r / ranks_per_host
  double alpha_s = 0;      // from the last byte's departure to its arrival on another host
  double beta_Bps = 1e9;   // bytes per second that leave a host; inside a host messages take no time

  int num_ranks() const { return num_hosts * ranks_per_host; }
  int host_of(int rank) const { return rank / ranks_per_host; }
};

}  // namespace ringtree
