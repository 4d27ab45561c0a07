// The links between hosts are probed once, where rank 0 asks for it, and count on all ranks alike.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include "core/engine/agreement.h"
#include "core/model/probed_constants.h"
#include "core/net/link_probe.h"
#include "tests/core/engine/host_threads.h"

namespace ringtree::testing {
namespace {

// What ranks choose by, of all of them: one text if they agree.
struct Reasons {
  std::mutex mutex;
  std::set<std::string> all;

  void add(const Communicator& communicator) {
    std::string text;
    for (size_t count = 1; count <= size_t{1} << 20; count *= 16) text += reason_of(communicator, count) + "\n";
    const std::lock_guard lock(mutex);
    all.insert(text);
  }
};

// On hosts that no other world of this process has been on: what was found to a host is remembered.
std::function<Settings(int)> asking(const std::vector<int>& hosts, const std::function<bool(int rank)>& asks) {
  static int number = 0;
  return [=, world = ++number](int rank) {
    Settings settings = settings_on(hosts, rank);
    settings.network.host_id += numbered(" of world", world);
    settings.probes_links = [=] { return asks(rank); };
    return settings;
  };
}

// The streams must carry calls afterwards.
void sum_of_ranks(Communicator& communicator) {
  std::vector<int64_t> data(50'000, communicator.rank());
  Call call;
  call.collective = Collective::all_reduce;
  call.dtype = Dtype::kInt64;
  call.count = data.size();
  call.input = call.output = data.data();
  communicator.run(call);
  const int64_t n = communicator.world_size(), wanted = n * (n - 1) / 2;
  for (const int64_t one : data)
    if (one != wanted) throw std::runtime_error("a wrong sum");
}

TEST(AgreedLinks, are_those_that_rank_0_probed_on_all_ranks) {
  for (const std::vector<int>& hosts : {std::vector{0, 1}, {0, 0, 1, 1}, {0, 1, 2}}) {
    Reasons reasons;
    std::atomic<int> asked{0};
    const auto settings = asking(hosts, [&](int rank) {
      asked += rank == 0 ? 1 : 100;
      return true;
    });
    expect_all_well(run_communicators(static_cast<int>(hosts.size()), settings, [&](Communicator& communicator) {
      reasons.add(communicator);
      sum_of_ranks(communicator);
    }));
    ASSERT_EQ(reasons.all.size(), 1u) << text_of(hosts);
    EXPECT_TRUE(contains(*reasons.all.begin(), "; links as probed")) << *reasons.all.begin();
    EXPECT_FALSE(contains(*reasons.all.begin(), "links of 15 us and 1.25 GB/s")) << *reasons.all.begin();
    EXPECT_EQ(asked, 1);
  }
}

TEST(AgreedLinks, are_not_probed_unless_rank_0_asks) {
  const std::vector<int> hosts{0, 1};
  const auto expect_built_in = [](int num_ranks, const std::function<Settings(int)>& settings, const char* where) {
    Reasons reasons;
    expect_all_well(run_communicators(num_ranks, settings,
                                      [&](Communicator& communicator) {
                                        reasons.add(communicator);
                                        sum_of_ranks(communicator);
                                      }),
                    where);
    ASSERT_EQ(reasons.all.size(), 1u) << where;
    EXPECT_FALSE(contains(*reasons.all.begin(), "as probed")) << where << ": " << *reasons.all.begin();
  };
  expect_built_in(2, asking(hosts, [](int rank) { return rank == 1; }), "only rank 1 asks");
  expect_built_in(2, [&](int rank) { return settings_on(hosts, rank); }, "nobody asks");
  const auto on_one_host = [](int) {
    Settings settings = test_settings();
    settings.probes_links = [] { return true; };
    return settings;
  };
  expect_built_in(2, on_one_host, "on one host");
}

// A profile has no rules for most layouts and collectives; for those the links count.
TEST(AgreedLinks, are_probed_beside_a_profile) {
  std::string rules;
  for (const char* cores : {"own", "shared"})
    rules += std::string("all_reduce 2x1 ") + cores + " private rest ring simple 0 ordinary 1\n";
  const auto asks = asking({0, 1}, [](int) { return true; });
  const auto settings = [&](int rank) {
    Settings own = asks(rank);
    own.profile = rules;
    return own;
  };
  expect_all_well(run_communicators(2, settings, [&](Communicator& communicator) {
    const std::string by_rule = reason_of(communicator, 1000);
    if (!contains(by_rule, "measured profile")) throw std::runtime_error(by_rule);
    const auto part = communicator.split(0, communicator.rank());
    for (const Communicator* either : {&communicator, part.get()}) {
      const std::string by_links = either->choose(call_of(Collective::all_gather, 1000)).second;
      if (!contains(by_links, "; links as probed")) throw std::runtime_error(by_links);
    }
  }));
}

TEST(AgreedLinks, are_those_of_the_whole_in_its_parts) {
  const std::vector<int> hosts{0, 0, 1, 1};
  std::atomic<int> asked{0};
  Reasons of_whole, of_parts;
  const auto settings = asking(hosts, [&](int) {
    ++asked;
    return true;
  });
  expect_all_well(run_communicators(4, settings, [&](Communicator& communicator) {
    of_whole.add(communicator);
    // The part's rank 0 is another one.
    const auto part = communicator.split(0, -communicator.rank());
    of_parts.add(*part);
    sum_of_ranks(*part);
  }));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(of_parts.all, of_whole.all);
}

// Ranks that meet and agree, but for one that does `instead`. What became of each.
std::vector<std::string> agree_but(int num_ranks, const std::function<Settings(int)>& settings, int other_rank,
                                   const Session::OnceMet& instead) {
  ThreadStore store;
  return run_ranks(num_ranks, [&](int rank) {
    const Settings own = settings(rank);
    const Session::OnceMet agree = [&](Rendezvous& rendezvous, const Mesh& mesh, Deadline deadline) {
      agree_at_start(rendezvous, mesh, own, deadline);
    };
    Session(store, rank, num_ranks, own, "met", {}, rank == other_rank ? instead : agree);
  });
}

TEST(AgreedLinks, are_remembered_by_the_process) {
  const auto settings = asking({0, 1}, [](int) { return true; });
  expect_all_well(run_communicators(2, settings, sum_of_ranks));
  std::string again;  // in later worlds of the process
  expect_all_well(agree_but(2, settings, 1, [&](Rendezvous& rendezvous, const Mesh&, Deadline deadline) {
    again = rendezvous.get("choosing", deadline);
    rendezvous.get("token", deadline);
  }));
  EXPECT_TRUE(parse_links(again)) << again;

  // Over other streams they may be others.
  const auto other_streams = [&](int rank) {
    Settings own = settings(rank);
    own.network.num_streams = 3;
    return own;
  };
  EXPECT_EQ(agree_but(2, other_streams, 1,
                      [&](Rendezvous& rendezvous, const Mesh& mesh, Deadline deadline) {
                        again = rendezvous.get("choosing", deadline);
                        answer_link_probe(mesh.streams_to(0), deadline);
                        rendezvous.get("token", deadline);
                      }),
            (std::vector<std::string>{"", ""}));
  EXPECT_EQ(again, "probe links\n");
}

TEST(AgreedLinks, who_refuses_instead_of_answering_is_heard_by_all) {
  const auto settings = asking({0, 1, 2}, [](int) { return true; });
  const auto outcomes =
      agree_but(3, settings, 1, [](Rendezvous&, const Mesh&, Deadline) { throw UsageError("rank 1 has other plans"); });
  for (const std::string& outcome : outcomes) EXPECT_TRUE(contains(outcome, "rank 1 has other plans")) << outcome;
}

TEST(AgreedLinks, who_does_not_answer_is_named_by_all) {
  const auto asks = asking({0, 1, 2}, [](int) { return true; });
  const auto settings = [&](int rank) {
    Settings own = asks(rank);
    own.timeout_s = 4;
    return own;
  };
  // Rank 1 stays and waits for what rank 0 never says, until it hears why.
  const auto outcomes = agree_but(3, settings, 1, [](Rendezvous& rendezvous, const Mesh&, Deadline deadline) {
    rendezvous.get("links", deadline);
  });
  for (const std::string& outcome : outcomes) {
    EXPECT_TRUE(contains(outcome, "did not answer in time while the links between hosts were probed")) << outcome;
    EXPECT_TRUE(contains(outcome, "rank 1 ")) << outcome;
  }
}

TEST(AgreedLinks, are_probed_where_there_are_several_streams) {
  Reasons reasons;
  const auto asks = asking({0, 1}, [](int) { return true; });
  const auto settings = [&](int rank) {
    Settings own = asks(rank);
    own.network.num_streams = 3;
    return own;
  };
  expect_all_well(run_communicators(2, settings, [&](Communicator& communicator) {
    reasons.add(communicator);
    sum_of_ranks(communicator);
  }));
  ASSERT_EQ(reasons.all.size(), 1u);
  EXPECT_TRUE(contains(*reasons.all.begin(), "; links as probed")) << *reasons.all.begin();
}

TEST(AgreedLinks, what_rank_0_throws_is_told_on_all_ranks) {
  const std::vector<int> hosts{0, 1, 1};
  const auto settings = asking(hosts, [](int) -> bool { throw UsageError("invalid RINGTREE_PROBE 'perhaps'"); });
  const auto outcomes = run_communicators(3, settings, [](Communicator&) {});
  for (const std::string& outcome : outcomes)
    EXPECT_TRUE(contains(outcome, "invalid RINGTREE_PROBE 'perhaps'")) << outcome;
}

}  // namespace
}  // namespace ringtree::testing
