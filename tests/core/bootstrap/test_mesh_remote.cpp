// The mesh between hosts: ranks, as threads that claim to be on different hosts, meet over TCP, send, leave in order;
// and as processes, which die. Strangers and ranks that stay away: test_connect_remote.cpp; within a host:
// test_mesh.cpp.

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <map>
#include <memory>

#include "core/bootstrap/connect_remote.h"
#include "core/bootstrap/mesh.h"
#include "core/bootstrap/thread_store.h"
#include "core/bootstrap/unix_store.h"
#include "tests/core/bootstrap/child_process.h"
#include "tests/core/bootstrap/mesh_deaths.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

constexpr int kManyMessages = 100;

MeshOptions options_on(int host, int num_streams = 1) {
  MeshOptions options;
  options.network.host_id = numbered("host", host);
  options.network.num_streams = num_streams;
  return options;
}

std::vector<std::string> with_mesh(const std::vector<int>& hosts, int num_streams,
                                   const std::function<void(Mesh& mesh, EventLog& log)>& body) {
  ThreadStore store;
  const int n = static_cast<int>(hosts.size());
  std::barrier all_done(n);
  return run_ranks(n, [&](int rank) {
    EventLog log;
    Mesh mesh(store, rank, n, patience(), log.events(), options_on(hosts[static_cast<size_t>(rank)], num_streams));
    body(mesh, log);
    all_done.arrive_and_wait();
  });
}

TEST(MeshRemote, knows_who_is_where_and_has_streams_to_the_others) {
  const std::vector<int> hosts{4, 7, 4, 1};
  expect_all_well(with_mesh(hosts, 3, [](Mesh& mesh, EventLog&) {
    EXPECT_EQ(mesh.hosts(), (std::vector<int>{0, 1, 0, 2}));
    for (int peer = 0; peer < 4; ++peer) {
      const bool remote = mesh.hosts()[static_cast<size_t>(peer)] != mesh.hosts()[static_cast<size_t>(mesh.rank())];
      EXPECT_EQ(mesh.is_remote(peer), remote);
      const std::vector<Fd> streams = mesh.take_streams(peer);
      EXPECT_EQ(streams.size(), remote ? 3u : 0u);
      for (const Fd& stream : streams) EXPECT_TRUE(stream.valid());
    }
    ASSERT_TRUE(mesh.own_address().has_value());
    EXPECT_EQ(mesh.own_address()->to_text(), "127.0.0.1:0");
  }));
}

TEST(MeshRemote, ranks_with_one_host_id_are_not_remote) {
  expect_all_well(with_mesh({3, 3}, 2, [](Mesh& mesh, EventLog&) {
    EXPECT_EQ(mesh.hosts(), (std::vector<int>{0, 0}));
    EXPECT_FALSE(mesh.is_remote(1 - mesh.rank()));
    EXPECT_FALSE(mesh.own_address().has_value());
  }));
}

TEST(MeshRemote, every_pair_exchanges_messages_of_every_kind_in_order) {
  expect_all_well(with_mesh({0, 1, 0, 2}, 1, [](Mesh& mesh, EventLog& log) {
    const ControlType types[] = {ControlType::link, ControlType::abort};  // statuses may be left out
    const auto payload = [](int from, int i) {
      const size_t length = i == 50 ? kMaxControlPayloadBytes - 10 : static_cast<size_t>(i) * 7;
      return std::to_string(from) + ":" + std::to_string(i) + std::string(length, '.');
    };
    for (int i = 0; i < kManyMessages; ++i)
      for (int peer = 0; peer < mesh.world_size(); ++peer)
        if (peer != mesh.rank()) {
          EXPECT_TRUE(mesh.send(peer, types[i % 2], payload(mesh.rank(), i)));
        }
    std::map<int, int> next;
    for (const EventLog::Message& message : log.messages(static_cast<size_t>(kManyMessages) * 3)) {
      const int i = next[message.peer]++;
      EXPECT_EQ(message.payload, payload(message.peer, i));
      EXPECT_EQ(message.type, types[i % 2]);
    }
    for (const auto& [peer, count] : next) EXPECT_EQ(count, kManyMessages) << "from " << peer;
  }));
}

TEST(MeshRemote, sends_no_descriptors_to_other_hosts) {
  expect_all_well(with_mesh({0, 1}, 1, [](Mesh& mesh, EventLog&) {
    const std::string outcome = outcome_of([&] { mesh.send(1 - mesh.rank(), ControlType::link, "", 0); });
    EXPECT_TRUE(contains(outcome, "usage: no descriptor can be sent to rank ")) << outcome;
    EXPECT_TRUE(contains(outcome, "which is on another host")) << outcome;
  }));
}

TEST(MeshRemote, what_is_heard_moves_the_time_at_which_a_rank_was_heard) {
  std::barrier both_looked(2);  // what the other sends may be here before this rank has looked
  expect_all_well(with_mesh({0, 1}, 1, [&](Mesh& mesh, EventLog& log) {
    const int other = 1 - mesh.rank();
    EXPECT_EQ(mesh.heard_ns(mesh.rank()), 0);
    const int64_t before = mesh.heard_ns(other);
    EXPECT_GT(before, 0);
    both_looked.arrive_and_wait();
    const int64_t sent_ns = now_ns();
    EXPECT_TRUE(mesh.send(other, ControlType::status, "here"));
    EXPECT_EQ(log.messages(1).at(0).payload, "here");
    EXPECT_GT(mesh.heard_ns(other), before);
    EXPECT_GT(mesh.heard_ns(other) + 10'000'000'000, sent_ns);
  }));
}

TEST(MeshRemote, beats_while_it_stands) {
  std::atomic<int> num_beats[2] = {0, 0};
  ThreadStore store;
  std::barrier all_done(2);
  expect_all_well(run_ranks(2, [&](int rank) {
    MeshEvents events;
    events.on_beat = [&] {
      ++num_beats[rank];
      num_beats[rank].notify_all();
    };
    Mesh mesh(store, rank, 2, patience(), std::move(events), options_on(rank));
    for (int beats = 0; beats < 3; beats = num_beats[rank].load()) num_beats[rank].wait(beats);
    all_done.arrive_and_wait();
  }));
}

TEST(MeshRemote, the_bye_carries_the_last_status_and_nothing_is_left_open) {
  const size_t before = num_open_descriptors();
  for (const std::vector<int>& hosts : {std::vector<int>{0, 1}, {0, 1, 2}, {0, 0, 1, 1}}) {
    ThreadStore store;
    const int n = static_cast<int>(hosts.size());
    std::barrier all_here(n);
    expect_all_well(run_ranks(n, [&](int rank) {
      EventLog log;
      MeshEvents events = log.events();
      events.last_status = [rank] { return numbered("the last of ", rank); };
      Mesh mesh(store, rank, n, patience(), std::move(events), options_on(hosts[static_cast<size_t>(rank)], 2));
      all_here.arrive_and_wait();
      // Rank r leaves once all below it have.
      const auto gone = log.gone(static_cast<size_t>(rank));
      ASSERT_EQ(gone.size(), static_cast<size_t>(rank));
      for (const EventLog::Gone& peer : gone) EXPECT_TRUE(peer.said_bye) << "rank " << peer.peer;
      const auto messages = log.messages(static_cast<size_t>(rank));
      ASSERT_EQ(messages.size(), static_cast<size_t>(rank));
      for (const EventLog::Message& message : messages) {
        EXPECT_EQ(message.type, ControlType::status);
        EXPECT_EQ(message.payload, numbered("the last of ", message.peer));
      }
      for (int peer = 0; peer < rank; ++peer) EXPECT_FALSE(mesh.send(peer, ControlType::abort, "too late"));
      mesh.close();
      mesh.close();
    }));
  }
  EXPECT_EQ(num_open_descriptors(), before);
}

TEST(MeshRemote, all_may_leave_at_once_and_nobody_seems_dead) {
  for (int round = 0; round < (kSanitized ? 10 : 40); ++round) {
    ThreadStore store;
    std::barrier all_here(3);
    expect_all_well(run_ranks(3, [&](int rank) {
      EventLog log;
      Mesh mesh(store, rank, 3, patience(), log.events(), options_on(rank));
      all_here.arrive_and_wait();
      // What lies unread in a socket that is closed takes back what was sent: the bye.
      for (int peer = 0; peer < 3; ++peer)
        if (peer != rank) mesh.send(peer, ControlType::status, std::string(1'000, 's'));
      mesh.close();
      for (const EventLog::Gone& gone : log.gone(0)) EXPECT_TRUE(gone.said_bye) << "rank " << gone.peer;
    }));
    if (HasFailure()) return;
  }
}

// The reason a rank gives up reaches the others although it leaves at once, and although it was sent much itself.
TEST(MeshRemote, last_words_arrive_before_the_bye) {
  for (int round = 0; round < (kSanitized ? 10 : 40); ++round) {
    expect_all_well(with_mesh({0, 1}, 1, [](Mesh& mesh, EventLog& log) {
      if (mesh.rank() == 1) {
        mesh.send(0, ControlType::abort, "the reason");
        return mesh.close();
      }
      for (int i = 0; i < 20; ++i) mesh.send(1, ControlType::status, std::string(1'000, 's'));
      const auto gone = log.gone(1);
      ASSERT_EQ(gone.size(), 1u);
      EXPECT_TRUE(gone[0].said_bye);
      ASSERT_EQ(log.messages(1).size(), 1u);
      EXPECT_EQ(log.messages(1)[0].payload, "the reason");
    }));
    if (HasFailure()) return;
  }
}

TEST(MeshRemote, a_rank_without_an_address_is_named_by_the_others_at_once) {
  ThreadStore store;
  const int64_t start_ns = now_ns();
  const auto outcomes = run_ranks(3, [&](int rank) {
    MeshOptions options = options_on(rank);
    if (rank == 1) options.network.interfaces = "no-such-interface";
    Mesh(store, rank, 3, patience(), {}, options);
  });
  EXPECT_LT(now_ns() - start_ns, 5'000'000'000);
  EXPECT_TRUE(contains(outcomes[1], "usage: ")) << outcomes[1];
  EXPECT_TRUE(contains(outcomes[1], "no-such-interface")) << outcomes[1];
  // They read it in rank 1's identity, or hear the word that it left: whichever comes first.
  for (const size_t rank : {0, 2}) {
    EXPECT_TRUE(contains(outcomes[rank], "peer: rank 1 (pid ")) << outcomes[rank];
    EXPECT_TRUE(contains(outcomes[rank], "no-such-interface")) << outcomes[rank];
  }
}

TEST(MeshRemote, a_rank_that_ends_while_others_connect_is_named_at_once) {
  // Rank 2 publishes everything and ends: its listener is gone before anybody calls or is called.
  ThreadStore store;
  const int64_t start_ns = now_ns();
  const auto outcomes = run_ranks(3, [&](int rank) {
    if (rank < 2) {
      Mesh(store, rank, 3, patience(), {}, options_on(rank));
      return;
    }
    PeerIdentity self = describe_self(2, 3, "", "host2");
    const RemoteListeners own = listen_for_remote(options_on(2).network, 8);
    self.addresses = {own.addresses.front().to_text()};
    store.set("mesh/identity/2", encode_identity(self));
  });
  EXPECT_LT(now_ns() - start_ns, 5'000'000'000);
  // Whichever finds it first leaves, and may be what the other finds ended.
  for (const size_t rank : {0, 1}) {
    EXPECT_TRUE(contains(outcomes[rank], "peer: rank 2 (pid ")) << outcomes[rank];
    EXPECT_TRUE(contains(outcomes[rank], "ended while rank ")) << outcomes[rank];
  }
}

// --- Processes.

using Pipe = ChildProcess::Pipe;

std::vector<ChildProcess> start_job(const std::vector<int>& hosts,
                                    const std::function<int(Mesh&, EventLog&, const Pipe&)>& body) {
  const std::string id = unique_id();
  std::vector<ChildProcess> ranks;
  const int n = static_cast<int>(hosts.size());
  for (int rank = 0; rank < n; ++rank)
    ranks.emplace_back([=](const Pipe& pipe) {
      auto store = std::make_unique<UnixStore>(id, rank, patience());
      EventLog log;
      Mesh mesh(*store, rank, n, patience(), log.events(), options_on(hosts[static_cast<size_t>(rank)]));
      pipe.say("up");
      pipe.hear();  // until all are
      store.reset();
      return body(mesh, log, pipe);
    });
  for (const ChildProcess& rank : ranks) EXPECT_EQ(rank.pipe().hear(), "up");
  for (const ChildProcess& rank : ranks) rank.pipe().say("go");
  return ranks;
}

TEST(MeshRemoteDeath, kill_reaches_every_survivor_within_a_second) {
  for (const std::vector<int>& hosts : {std::vector<int>{0, 1}, {0, 1, 2}, {0, 0, 1, 1}})
    for (const int victim : {0, static_cast<int>(hosts.size()) - 1}) {
      auto ranks = start_job(hosts, [](Mesh&, EventLog& log, const Pipe& pipe) { return report_and_stay(log, pipe); });
      expect_kill_noticed(ranks, victim);
    }
}

TEST(MeshRemoteDeath, an_orderly_end_is_a_bye_and_an_exit_without_close_is_a_death) {
  for (const bool orderly : {true, false}) {
    auto ranks = start_job({0, 1, 2}, [=](Mesh& mesh, EventLog& log, const Pipe& pipe) {
      return end_when_told(mesh, log, pipe, orderly);
    });
    expect_end_noticed(ranks, orderly);
  }
}

TEST(MeshRemoteDeath, a_forked_child_that_ends_changes_nothing) {
  auto ranks = start_job({0, 1}, outlive_forks);
  expect_outlived(ranks);
}

TEST(MeshRemoteDeath, a_stopped_peer_cannot_hold_up_send_or_close) {
  auto ranks = start_job({0, 1}, [](Mesh& mesh, EventLog&, const Pipe& pipe) {
    pipe.hear();
    if (mesh.rank() != 0) return 0;
    const int64_t start_ns = now_ns();
    const std::string payload(kMaxControlPayloadBytes, 'x');
    int num_sent = 0;
    while (num_sent < 10'000 && mesh.send(1, ControlType::link, payload)) ++num_sent;
    const int64_t sent_ns = now_ns() - start_ns;
    mesh.close();
    const int64_t closed_ns = now_ns() - start_ns - sent_ns;
    const bool full = num_sent > 0 && num_sent < 10'000;
    pipe.say(full && sent_ns < 10'000'000'000 && closed_ns < 2'000'000'000 ? "in time" : "late");
    return 0;
  });
  ranks[1].signal(SIGSTOP);
  ranks[0].pipe().say("go");
  EXPECT_EQ(ranks[0].pipe().hear(), "in time");
}

// A rank that is stopped reads nothing. Who tells it how it stands must neither wait for it nor end the connection:
// when it goes on all is as before.
TEST(MeshRemoteDeath, statuses_to_a_stopped_rank_neither_wait_nor_end_anything) {
  constexpr int kNumStatuses = 100'000;
  auto ranks = start_job({0, 1}, [](Mesh& mesh, EventLog& log, const Pipe& pipe) {
    if (mesh.rank() == 0) {
      pipe.hear();  // "stopped"
      const int64_t start_ns = now_ns();
      int num_sent = 0;
      for (int i = 0; i < kNumStatuses; ++i)
        num_sent += mesh.send(1, ControlType::status, std::string(200, 's')) ? 1 : 0;
      pipe.say(std::to_string(now_ns() - start_ns));
      pipe.say(std::to_string(num_sent));
      pipe.hear();  // "goes on"
      pipe.say(mesh.send(1, ControlType::link, "after") ? "sent" : "refused");
    } else {
      pipe.say(log.first_of(ControlType::link).payload);
    }
    pipe.hear();  // until the other was heard
    return 0;
  });
  ranks[1].signal(SIGSTOP);
  ranks[0].pipe().say("stopped");
  const int64_t took_ns = std::atoll(ranks[0].pipe().hear().c_str());
  EXPECT_LT(took_ns, int64_t{1'000'000'000} * (kSanitized ? 10 : 5));
  const int num_sent = std::atoi(ranks[0].pipe().hear().c_str());
  EXPECT_GT(num_sent, 0);
  EXPECT_LT(num_sent, kNumStatuses) << "the sockets took all: nothing was tried";
  ranks[1].signal(SIGCONT);
  ranks[0].pipe().say("goes on");
  EXPECT_EQ(ranks[0].pipe().hear(), "sent");
  EXPECT_EQ(ranks[1].pipe().hear(), "after");
}

}  // namespace
}  // namespace ringtree::testing
