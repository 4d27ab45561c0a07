// What ends a communicator whose ranks are on several hosts: every rank hears why, soon and with the same words as on
// one host, though it cannot look at the others' pages. And what must not end it. Ranks as threads; ranks that are
// killed: tests/core/bootstrap/test_mesh_remote.cpp and tests/python.
#include <gtest/gtest.h>

#include <barrier>

#include "tests/core/engine/host_threads.h"

namespace ringtree::testing {
namespace {

const std::vector<std::vector<int>> kHostsOfRanks = {{0, 1}, {0, 1, 2}, {0, 0, 1}, {0, 1, 0, 1}};
constexpr int64_t kSoonNs = int64_t{1'000'000'000} * (kSanitized ? 5 : 1);

std::string begins_with_pid(int rank) { return "rank " + std::to_string(rank) + " (pid " + std::to_string(getpid()); }

/// The time from when all ranks have come to the end of the slowest rank's body.
struct Stopwatch {
  explicit Stopwatch(int num_ranks) : all_here(num_ranks, Start{this}) {}
  struct Start {
    Stopwatch* watch;
    void operator()() noexcept { watch->start_ns = now_ns(); }
  };
  std::barrier<Start> all_here;
  int64_t start_ns = 0;  // written while all are at the barrier
};

struct RemoteDifference {
  const char* name;
  Call usual, odd;  // what all ranks but one say, and what that one says
  std::string algorithm, usual_text, odd_text;
};

std::vector<RemoteDifference> remote_differences() {
  using enum Collective;
  const Call usual = call_of(all_reduce, 1000);
  return {
      {"count", usual, call_of(all_reduce, 1001), "ring", "count=1000,", "count=1001,"},
      {"no elements", usual, call_of(all_reduce, 0), "tree", "count=1000,", "count=0,"},
      {"much and little", call_of(all_reduce, 3'000'000), usual, "ring", "count=3000000,", "count=1000,"},
      {"dtype", usual, call_of(all_reduce, 1000, Dtype::kInt32), "ring", "float32", "int32"},
      {"op", usual, call_of(all_reduce, 1000, Dtype::kFloat32, ReduceOp::max), "one_shot", "sum", "max"},
      {"collective", usual, call_of(all_gather, 1000), "ring", "all_reduce(count=1000", "all_gather(count=1000"},
      {"root of a broadcast", call_of(broadcast, 1000), call_of(broadcast, 1000, Dtype::kFloat32, ReduceOp::sum, 1),
       "tree", "root 0", "root 1"},
      {"root of a reduce", call_of(reduce, 1000), call_of(reduce, 1000, Dtype::kFloat32, ReduceOp::sum, 1), "ring",
       "root 0", "root 1"},
  };
}

/// One run; how long it took until the slowest rank had been told.
int64_t mismatch_once(const RemoteDifference& difference, const std::vector<int>& hosts, int odd) {
  const int n = static_cast<int>(hosts.size());
  Stopwatch watch(n);
  std::atomic<int64_t> slowest_ns{0};
  const auto outcomes = run_on_hosts(hosts, [&](Communicator& communicator) {
    const Call& call = communicator.rank() == odd ? difference.odd : difference.usual;
    sum_of_ones(communicator, 10);
    watch.all_here.arrive_and_wait();
    const std::string outcome = outcome_of([&] { run_then_sum(communicator, with(call, by(difference.algorithm))); });
    const int64_t took_ns = now_ns() - watch.start_ns;
    int64_t before = slowest_ns.load();
    while (before < took_ns && !slowest_ns.compare_exchange_weak(before, took_ns)) continue;
    EXPECT_TRUE(contains(outcome, "mismatch: ")) << outcome;
    EXPECT_TRUE(contains(outcome, "#2")) << outcome;
    EXPECT_TRUE(contains(outcome, difference.usual_text)) << outcome;
    EXPECT_TRUE(contains(outcome, difference.odd_text)) << outcome;
    EXPECT_TRUE(contains(outcome, begins_with_pid(odd))) << outcome;
  });
  expect_all_well(outcomes);
  return slowest_ns.load();
}

TEST(HostsFailures, a_mismatch_of_any_kind_is_told_on_every_rank_within_a_second) {
  int64_t slowest_ns = 0;
  for (const RemoteDifference& difference : remote_differences())
    for (const std::vector<int>& hosts : kHostsOfRanks)
      for (const int odd : {0, static_cast<int>(hosts.size()) - 1}) {
        SCOPED_TRACE(std::string(difference.name) + ", rank " + std::to_string(odd) + " on hosts " + text_of(hosts));
        int64_t took_ns = INT64_MAX;
        for (int attempt = 0; attempt < 3 && took_ns > kSoonNs && !HasFailure(); ++attempt)  // the machine may be busy
          took_ns = std::min(took_ns, mismatch_once(difference, hosts, odd));
        EXPECT_LT(took_ns, kSoonNs);
        slowest_ns = std::max(slowest_ns, took_ns);
        if (HasFailure()) return;
      }
  std::printf("[ measured ] slowest: %.0f ms\n", static_cast<double>(slowest_ns) * 1e-6);
}

TEST(HostsFailures, a_rank_that_leaves_is_named_with_the_call_that_needed_it) {
  for (const std::vector<int>& hosts : kHostsOfRanks)
    for (const char* algorithm : {"ring", "tree", "one_shot"}) {
      const int leaver = static_cast<int>(hosts.size()) - 1;
      std::barrier all_summed(leaver + 1);  // who is still in that call would hear of it from who is in the next
      const auto outcomes = run_on_hosts(hosts, [&](Communicator& communicator) {
        sum_of_ones(communicator, 100, algorithm);
        all_summed.arrive_and_wait();
        if (communicator.rank() == leaver) return;
        const int64_t start_ns = now_ns();
        const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 100, algorithm); });
        EXPECT_LT(now_ns() - start_ns, 10 * kSoonNs);
        EXPECT_TRUE(contains(outcome, "peer: " + begins_with_pid(leaver))) << outcome;
        EXPECT_TRUE(contains(outcome, ") left the communicator before it completed all_reduce #2")) << outcome;
        EXPECT_EQ(outcome_of([&] { sum_of_ones(communicator, 7); }), outcome);  // and again at every later call
      });
      expect_all_well(outcomes, std::string(algorithm) + " on " + text_of(hosts));
    }
}

TEST(HostsFailures, a_rank_that_is_done_and_leaves_at_once_disturbs_nobody) {
  constexpr int kRounds = kSanitized ? 20 : 100;
  const char* names[] = {"ring", "tree", "naive", "two_shot"};
  for (size_t round = 0; round < kRounds; ++round) {
    const std::vector<int>& hosts = kHostsOfRanks[round % kHostsOfRanks.size()];
    const size_t count = round % 5 == 0 ? 300'000 : 1 + 37 * round;
    const auto settings = [&](int rank) {
      Settings made = settings_on(hosts, rank);
      made.network.num_streams = 1 + static_cast<int>(round % 3);
      return made;
    };
    const auto outcomes = run_communicators(static_cast<int>(hosts.size()), settings, [&](Communicator& communicator) {
      sum_of_ones(communicator, count, names[round / 4 % 4]);
    });
    expect_all_well(outcomes, "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST(HostsFailures, a_root_that_sent_and_left_disturbs_nobody) {
  constexpr int kRounds = kSanitized ? 10 : 40;
  for (int round = 0; round < kRounds; ++round) {
    const size_t count = round % 2 ? 1'000 : 500'000;
    expect_all_well(run_on_hosts({0, 1, 2},
                                 [&](Communicator& communicator) {
                                   std::vector<float> data(count, communicator.rank() == 0 ? 5.0f : 0.0f);
                                   Call arguments = call_of(Collective::broadcast, data.size());
                                   arguments.input = arguments.output = data.data();
                                   communicator.run(with(arguments, by("tree")));
                                   for (const float value : data)
                                     if (value != 5.0f) throw std::runtime_error("not what the root sent");
                                 }),
                    "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST(HostsFailures, an_abort_is_told_on_every_rank_at_once) {
  for (const std::vector<int>& hosts : kHostsOfRanks) {
    Stopwatch watch(static_cast<int>(hosts.size()));
    const int last = static_cast<int>(hosts.size()) - 1;
    const auto outcomes = run_on_hosts(hosts, [&](Communicator& communicator) {
      sum_of_ones(communicator, 10);
      watch.all_here.arrive_and_wait();
      if (communicator.rank() == last) communicator.abort("the loss is NaN");
      const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 10); });
      EXPECT_LT(now_ns() - watch.start_ns, 5 * kSoonNs);
      EXPECT_TRUE(contains(outcome, begins_with_pid(last))) << outcome;
      EXPECT_TRUE(contains(outcome, "aborted the communicator: the loss is NaN")) << outcome;
    });
    expect_all_well(outcomes, text_of(hosts));
  }
}

TEST(HostsFailures, a_timeout_says_where_every_rank_is) {
  for (const std::vector<int>& hosts : kHostsOfRanks) {
    const int n = static_cast<int>(hosts.size()), late = n - 1;
    std::barrier all_told(n);
    const auto outcomes = run_on_hosts(hosts, [&](Communicator& communicator) {
      sum_of_ones(communicator, 100);
      if (communicator.rank() != late) {
        const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 200'000, "ring", 0.4); });
        EXPECT_TRUE(contains(outcome, "timeout: all_reduce #2 was not complete on " + begins_with_pid(0)) ||
                    contains(outcome, "timeout: all_reduce #2 was not complete on " + begins_with_pid(1)) ||
                    contains(outcome, "timeout: all_reduce #2 was not complete on " + begins_with_pid(2)))
            << outcome;
        EXPECT_TRUE(contains(outcome, "after 0.4 s")) << outcome;
        EXPECT_TRUE(contains(outcome, begins_with_pid(late))) << outcome;
        EXPECT_TRUE(contains(outcome, ") has only begun call #1")) << outcome;
        // The late one: what it said last may be half a second old.
        EXPECT_TRUE(contains(outcome, ") has completed all_reduce #1") || contains(outcome, ") is in all_reduce #1, "))
            << outcome;
        EXPECT_TRUE(contains(outcome, ") is in all_reduce #2, ")) << outcome;
        EXPECT_TRUE(contains(outcome, " bytes done")) << outcome;
        EXPECT_TRUE(contains(outcome, " on host" + std::to_string(hosts[0]))) << outcome;
      }
      all_told.arrive_and_wait();
      const std::string again = outcome_of([&] { sum_of_ones(communicator, 200'000); });
      EXPECT_TRUE(contains(again, "timeout: all_reduce #2")) << again;
    });
    expect_all_well(outcomes, text_of(hosts));
  }
}

TEST(HostsFailures, a_timeout_does_not_say_of_a_rank_elsewhere_what_nobody_knows) {
  std::barrier all_told(2);
  const auto outcomes = run_on_hosts({0, 1}, [&](Communicator& communicator) {
    if (communicator.rank() == 0) {
      const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 10, "ring", 0.4); });
      EXPECT_TRUE(contains(outcome, ") has not reported a call;")) << outcome;
      EXPECT_FALSE(contains(outcome, "begun a call")) << outcome;
    }
    all_told.arrive_and_wait();
  });
  expect_all_well(outcomes, "two hosts");
}

TEST(HostsFailures, of_an_interrupt_is_a_departed_peer_elsewhere) {
  std::barrier all_here(2);
  const auto outcomes = run_on_hosts({0, 1}, [&](Communicator& communicator) {
    sum_of_ones(communicator, 100);
    all_here.arrive_and_wait();  // a rank still in the first call would hear that the second failed
    if (communicator.rank() == 1) {
      communicator.set_interrupt_check([] { return 1; });
      EXPECT_THROW(sum_of_ones(communicator, 100), Interrupted);
      all_here.arrive_and_wait();
      return;
    }
    all_here.arrive_and_wait();
    const std::string outcome = outcome_of([&] { sum_of_ones(communicator, 100); });
    EXPECT_TRUE(contains(outcome, "was interrupted during all_reduce #2")) << outcome;
  });
  expect_all_well(outcomes);
}

TEST(HostsFailures, protocols_with_flags_are_refused_between_hosts_with_the_reason) {
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128})
    expect_all_well(run_on_hosts({0, 1}, [&](Communicator& communicator) {
      std::vector<float> data(100, 1.0f);
      Call arguments = call_of(Collective::all_reduce, data.size());
      arguments.input = arguments.output = data.data();
      const std::string outcome = outcome_of([&] { communicator.run(with(arguments, by("ring", protocol))); });
      EXPECT_TRUE(contains(outcome, "usage: ")) << outcome;
      EXPECT_TRUE(contains(outcome, "runs on one host only: its flags lie in shared memory")) << outcome;
      sum_of_ones(communicator, 100);  // nothing has happened
    }));
}

TEST(HostsFailures, an_emulated_cluster_on_several_hosts_is_refused) {
  const std::vector<int> hosts{0, 1};
  const auto settings = [&](int rank) {
    Settings made = settings_on(hosts, rank);
    made.emulation = Cluster{2, 1, 1e-4, 1e9};
    return made;
  };
  for (const std::string& outcome : run_communicators(2, settings, [](Communicator&) {}))
    EXPECT_TRUE(contains(outcome, "a cluster can be emulated on one host only")) << outcome;
}

TEST(HostsFailures, streams_and_checksums_must_be_alike_on_all_ranks) {
  const std::vector<int> hosts{0, 1};
  for (const bool streams : {true, false}) {
    const auto settings = [&](int rank) {
      Settings made = settings_on(hosts, rank);
      made.network.num_streams = streams ? 1 + rank : 1;
      made.network.checksums = !streams && rank == 1;
      return made;
    };
    for (const std::string& outcome : run_communicators(2, settings, [](Communicator&) {})) {
      EXPECT_TRUE(contains(outcome, "mismatch: the ranks' settings differ")) << outcome;
      EXPECT_TRUE(contains(outcome, streams ? "2 streams between hosts" : "with checksums")) << outcome;
    }
  }
}

TEST(HostsFailures, the_memory_cap_counts_links_from_other_hosts) {
  const std::vector<int> hosts{0, 1};
  // Enough for the one link to the other rank, not for the one from it as well.
  const size_t one_link = LinkGeometry{1, kSlots, kSlotBytes}.bytes();
  const auto settings = [&](int rank) {
    Settings made = settings_on(hosts, rank);
    if (rank == 1) made.memory_cap_bytes = one_link + one_link / 2;
    return made;
  };
  const auto outcomes =
      run_communicators(2, settings, [](Communicator& communicator) { sum_of_ones(communicator, 100); });
  EXPECT_TRUE(contains(outcomes[1], "usage: links from other hosts need")) << outcomes[1];
  EXPECT_TRUE(contains(outcomes[1], "raise memory_cap")) << outcomes[1];
  EXPECT_TRUE(contains(outcomes[0], "could not begin all_reduce(count=100")) << outcomes[0];
  EXPECT_TRUE(contains(outcomes[0], begins_with_pid(1))) << outcomes[0];
}

}  // namespace
}  // namespace ringtree::testing
