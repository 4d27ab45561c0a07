// Communicators over several hosts through the C functions: processes, each with a host id of its own, meet over TCP on
// the loopback interface. Real hosts, in network namespaces, are the Python tests'
// (tests/python/comm/test_hosts_capi.py).
#include <gtest/gtest.h>

#include <cstring>

#include "tests/core/bootstrap/child_process.h"
#include "tests/core/capi/capi_ranks.h"
#include "tests/core/capi/host_environment.h"

namespace ringtree::testing {
namespace {

/// What every rank of these tests does: sums large and small, a part across the hosts, and what it has left behind.
void call_as_rank(const rtUniqueId& id, int num_ranks, int rank) {
  const Comm comm(num_ranks, id, rank);
  for (const size_t count : {size_t{1}, size_t{1000}, size_t{300'000}}) ok(sum_of_ones(comm, count));
  rtComm_t made = nullptr;
  ok(rtCommSplit(comm, rank % 2, 0, &made));
  const Comm part(made);
  ok(sum_of_ones(part, 1000));
  ok(rtBarrier(comm));
}

std::string as_text(const rtUniqueId& id) { return id.internal; }

rtUniqueId heard(const std::string& text) {
  rtUniqueId id = {};
  text.copy(id.internal, sizeof id.internal - 1);
  return id;
}

/// One child a rank, which runs on the host of that number.
std::vector<ChildProcess> fork_ranks(const std::vector<int>& hosts,
                                     const std::function<void(const ChildProcess::Pipe&, int rank)>& body) {
  std::vector<ChildProcess> ranks;
  for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank)
    ranks.emplace_back([&hosts, &body, rank](const ChildProcess::Pipe& pipe) {
      const HostEnvironment environment{{"RINGTREE_HOSTID", numbered("host", hosts[static_cast<size_t>(rank)])}};
      body(pipe, rank);
      return 0;
    });
  return ranks;
}

void expect_all_end_well(std::vector<ChildProcess>& ranks) {
  for (ChildProcess& rank : ranks) EXPECT_EQ(rank.wait(), 0);
}

TEST(CapiHosts, ranks_meet_at_the_port_that_rank_0_opened) {
  for (const std::vector<int>& hosts : {std::vector<int>{0, 1}, {0, 0, 1, 1}, {0, 1, 2}}) {
    const int n = static_cast<int>(hosts.size());
    std::vector<ChildProcess> ranks = fork_ranks(hosts, [n](const ChildProcess::Pipe& pipe, int rank) {
      for (int round = 0; round < 2; ++round) {
        if (rank == 0) pipe.say(as_text(new_id()));
        call_as_rank(heard(pipe.hear()), n, rank);
        pipe.say(std::to_string(num_open_descriptors()));
      }
    });
    std::vector<std::string> num_left(ranks.size());
    for (int round = 0; round < 2; ++round) {
      const std::string id = ranks[0].pipe().hear();
      EXPECT_TRUE(contains(id, "capi-127.0.0.1:")) << id;
      for (const ChildProcess& rank : ranks) rank.pipe().say(id);
      for (size_t rank = 0; rank < ranks.size(); ++rank) {
        const std::string left = ranks[rank].pipe().hear();
        if (round == 1) {
          EXPECT_EQ(left, num_left[rank]) << "descriptors of rank " << rank;
        }
        num_left[rank] = left;
      }
    }
    expect_all_end_well(ranks);
  }
}

TEST(CapiHosts, ranks_may_be_forked_by_who_made_the_id) {
  const HostEnvironment environment{{"RINGTREE_HOSTID", "of the parent"}};
  const rtUniqueId id = new_id();
  const std::vector<int> hosts{0, 1, 1};
  std::vector<ChildProcess> ranks =
      fork_ranks(hosts, [&id](const ChildProcess::Pipe&, int rank) { call_as_rank(id, 3, rank); });
  expect_all_end_well(ranks);
}

TEST(CapiHosts, ranks_that_share_one_may_meet_over_tcp) {
  const HostEnvironment environment{{"RINGTREE_IFNAME", "=lo"}};
  const rtUniqueId id = new_id();
  expect_all_well(run_ranks(3, [&](int rank) { call_as_rank(id, 3, rank); }));
}

// The port is open from the moment when the id was made: who comes early waits there.
TEST(CapiHosts, ranks_may_come_before_rank_0) {
  std::vector<ChildProcess> ranks = fork_ranks({0, 1}, [](const ChildProcess::Pipe& pipe, int rank) {
    if (rank == 0) pipe.say(as_text(new_id()));
    const rtUniqueId id = heard(pipe.hear());
    if (rank == 0) pipe.hear();
    if (rank == 1) pipe.say("on its way");
    call_as_rank(id, 2, rank);
  });
  const std::string id = ranks[0].pipe().hear();
  ranks[0].pipe().say(id);
  ranks[1].pipe().say(id);
  ranks[0].pipe().say(ranks[1].pipe().hear());
  expect_all_end_well(ranks);
}

// As when a port has become another job's: who comes with an id of before finds nobody there, and harms nobody.
TEST(CapiHosts, ranks_of_another_id_at_the_same_port_are_not_met) {
  const HostEnvironment environment{{"RINGTREE_IFNAME", "=lo"}};
  const rtUniqueId id = new_id();
  std::string text = as_text(id);
  text.back() = text.back() == '0' ? '1' : '0';
  const rtUniqueId other = heard(text);
  expect_all_well(run_ranks(2, [&](int rank) {
    const Comm comm(2, id, rank);
    const rtConfig_t soon = test_config(0.2);
    rtComm_t none = nullptr;
    if (rank == 1) expect_refused(rtCommInitRankConfig(&none, 2, other, 1, &soon), rtTimeout, "rank 0");
    ok(sum_of_ones(comm));
  }));
}

}  // namespace
}  // namespace ringtree::testing
