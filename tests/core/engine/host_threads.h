// Ranks as threads that believe to be on several hosts: each has a host id, and those with different ones meet over TCP
// on the loopback interface. Real hosts, in network namespaces, are the Python tests'
// (tests/python/comm/test_hosts*.py).
#pragma once

#include <string>
#include <vector>

#include "tests/core/engine/rank_threads.h"

namespace ringtree::testing {

/// `hosts`: by rank, the number of its host.
inline Settings settings_on(const std::vector<int>& hosts, int rank, int num_channels = 1) {
  Settings settings = test_settings(num_channels);
  settings.network.host_id = numbered("host", hosts[static_cast<size_t>(rank)]);
  return settings;
}

inline std::vector<std::string> run_on_hosts(const std::vector<int>& hosts, const RankBody& body,
                                             Cores cores = Cores::all) {
  return run_communicators(
      static_cast<int>(hosts.size()), [&](int rank) { return settings_on(hosts, rank); }, body, cores);
}

inline std::string text_of(const std::vector<int>& hosts) {
  std::string text;
  for (int host : hosts) text += std::to_string(host);
  return text;
}

}  // namespace ringtree::testing
