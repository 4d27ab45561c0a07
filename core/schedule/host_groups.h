// Which ranks share a host: what an algorithm may know of the machines it runs on. Inside a host ranks share memory, so
// a slot may have several readers; between hosts there is a network. Not how fast either is: that is the model's.
//
// Any mapping of ranks to hosts, hosts of any sizes. Hosts are numbered in the order of their first rank, so that equal
// groupings are equal values on every rank.
#pragma once

#include <compare>
#include <string>
#include <vector>

namespace ringtree {

class HostGroups {
 public:
  /// `host_of_rank[r]`: the host of rank r. Throws UsageError if there are no ranks or if hosts are not numbered 0, 1,
  /// … in the order of their first rank.
  explicit HostGroups(std::vector<int> host_of_rank);
  /// All ranks on one host.
  static HostGroups single(int num_ranks);
  /// Ranks 0 … k-1 on host 0, the next k on host 1, …; the last host may have fewer.
  static HostGroups blocks(int num_ranks, int ranks_per_host);

  int num_ranks() const { return static_cast<int>(host_of_.size()); }
  int num_hosts() const { return static_cast<int>(ranks_of_.size()); }
  int host_of(int rank) const { return host_of_[static_cast<size_t>(rank)]; }
  /// In ascending order.
  const std::vector<int>& ranks_of(int host) const { return ranks_of_[static_cast<size_t>(host)]; }
  /// A rank's place in ranks_of(host_of(rank)).
  int local_index(int rank) const { return local_index_[static_cast<size_t>(rank)]; }
  /// Ranks on the smallest and on the largest host.
  int smallest() const { return smallest_; }
  int largest() const { return largest_; }

  /// "0,0,1,1": equal texts <=> equal groupings.
  std::string text() const;
  /// For people: "2x4" for two hosts of 4 ranks in blocks, else "3 hosts of 2, 1, 5 ranks".
  std::string describe() const;

  bool operator==(const HostGroups& other) const { return host_of_ == other.host_of_; }
  auto operator<=>(const HostGroups& other) const { return host_of_ <=> other.host_of_; }

 private:
  std::vector<int> host_of_, local_index_;
  std::vector<std::vector<int>> ranks_of_;
  int smallest_ = 0, largest_ = 0;
};

/// Throws UsageError if `hosts` does not say where each of `num_ranks` ranks lives.
void require_all_ranks(const HostGroups& hosts, int num_ranks);

}  // namespace ringtree
