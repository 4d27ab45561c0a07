// See host_groups.h.
#include "core/schedule/host_groups.h"

#include <algorithm>

#include "core/base/error.h"

namespace ringtree {

HostGroups::HostGroups(std::vector<int> host_of_rank) : host_of_(std::move(host_of_rank)) {
  if (host_of_.empty()) throw UsageError("hosts: there must be at least one rank");
  for (int rank = 0; rank < num_ranks(); ++rank) {
    const int host = host_of(rank);
    if (host < 0 || host > num_hosts())
      throw UsageError("hosts: rank " + std::to_string(rank) + " is on host " + std::to_string(host) +
                       ", but hosts are numbered from 0 in the order of their first rank, so it must be one of 0.." +
                       std::to_string(num_hosts()));
    if (host == num_hosts()) ranks_of_.emplace_back();
    std::vector<int>& ranks = ranks_of_[static_cast<size_t>(host)];
    local_index_.push_back(static_cast<int>(ranks.size()));
    ranks.push_back(rank);
  }
  const auto [least, most] = std::minmax_element(ranks_of_.begin(), ranks_of_.end(),
                                                 [](const auto& a, const auto& b) { return a.size() < b.size(); });
  smallest_ = static_cast<int>(least->size());
  largest_ = static_cast<int>(most->size());
}

HostGroups HostGroups::single(int num_ranks) { return blocks(num_ranks, std::max(1, num_ranks)); }

HostGroups HostGroups::blocks(int num_ranks, int ranks_per_host) {
  if (ranks_per_host < 1)
    throw UsageError("hosts: a host needs at least one rank, not " + std::to_string(ranks_per_host));
  std::vector<int> host_of_rank;
  for (int rank = 0; rank < num_ranks; ++rank) host_of_rank.push_back(rank / ranks_per_host);
  return HostGroups(std::move(host_of_rank));
}

std::string HostGroups::text() const {
  std::string text;
  for (int host : host_of_) text += (text.empty() ? "" : ",") + std::to_string(host);
  return text;
}

std::string HostGroups::describe() const {
  if (*this == blocks(num_ranks(), largest_) && smallest_ == largest_)
    return std::to_string(num_hosts()) + "x" + std::to_string(largest_);
  std::string sizes;
  for (const std::vector<int>& ranks : ranks_of_) sizes += (sizes.empty() ? "" : ", ") + std::to_string(ranks.size());
  return std::to_string(num_hosts()) + " hosts of " + sizes + " ranks";
}

void require_all_ranks(const HostGroups& hosts, int num_ranks) {
  if (hosts.num_ranks() != num_ranks)
    throw UsageError("hosts are given for " + std::to_string(hosts.num_ranks()) + " ranks, but there are " +
                     std::to_string(num_ranks));
}

}  // namespace ringtree
