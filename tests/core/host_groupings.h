// Groupings of ranks on hosts that schedules are tried on: blocks, unequal hosts, interleaved and shuffled ones.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "core/schedule/host_groups.h"

namespace ringtree::testing {

/// Hosts of these numbers of ranks, one after the other.
inline HostGroups hosts_of_sizes(const std::vector<int>& sizes) {
  std::vector<int> host_of_rank;
  for (size_t host = 0; host < sizes.size(); ++host)
    host_of_rank.insert(host_of_rank.end(), static_cast<size_t>(sizes[host]), static_cast<int>(host));
  return HostGroups(host_of_rank);
}

/// Any labels, numbered in the order of their first rank.
inline HostGroups renumbered(const std::vector<int>& labels) {
  std::vector<int> order, host_of_rank;
  for (int label : labels) {
    const auto known = std::find(order.begin(), order.end(), label);
    host_of_rank.push_back(static_cast<int>(known - order.begin()));
    if (known == order.end()) order.push_back(label);
  }
  return HostGroups(host_of_rank);
}

inline HostGroups round_robin(int num_ranks, int num_hosts) {
  std::vector<int> host_of_rank;
  for (int rank = 0; rank < num_ranks; ++rank) host_of_rank.push_back(rank % num_hosts);
  return HostGroups(host_of_rank);
}

inline HostGroups shuffled(const HostGroups& hosts, uint64_t seed) {
  std::vector<int> labels;
  for (int rank = 0; rank < hosts.num_ranks(); ++rank) labels.push_back(hosts.host_of(rank));
  std::mt19937_64 random(seed);
  std::shuffle(labels.begin(), labels.end(), random);
  return renumbered(labels);
}

/// All kinds for `n` ranks, each once. In blocks of 1, 2, 3, 4 and 8 (the last host may be smaller), on one host, with
/// hosts that grow by a rank each, one host that is much larger than the others, taking turns, and shuffled.
inline std::vector<HostGroups> groupings(int n) {
  std::vector<HostGroups> all = {HostGroups::single(n)};
  for (int size : {1, 2, 3, 4, 8}) {
    all.push_back(HostGroups::blocks(n, size));
    all.push_back(shuffled(HostGroups::blocks(n, size), static_cast<uint64_t>(100 * n + size)));
  }
  std::vector<int> growing;
  for (int left = n, size = 1; left > 0; left -= size, size = std::min(size + 1, left)) growing.push_back(size);
  all.push_back(hosts_of_sizes(growing));
  std::vector<int> large_and_twos = {n - n / 2};
  for (int left = n / 2; left > 0; left -= 2) large_and_twos.push_back(std::min(left, 2));
  all.push_back(hosts_of_sizes(large_and_twos));
  for (int num_hosts : {2, 3, 5}) all.push_back(round_robin(n, num_hosts));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace ringtree::testing
