// The mesh with ranks as threads: who meets whom, what is refused, messages and descriptors, and leaving in order.
// Killed processes are in test_mesh_death.cpp, strangers at the door in test_connect_mesh.cpp.
#include <sys/mman.h>
#include <sys/stat.h>

#include <barrier>
#include <future>
#include <map>
#include <optional>
#include <set>

#include "core/bootstrap/mesh.h"
#include "core/bootstrap/thread_store.h"
#include "core/bootstrap/unix_store.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

// Makes a mesh of `world_size` ranks, runs `body` on each rank and waits for all ranks before any mesh is closed.
std::vector<std::string> with_mesh(int world_size, const std::function<void(Mesh& mesh, EventLog& log)>& body) {
  ThreadStore store;
  std::barrier all_done(world_size);
  return run_ranks(world_size, [&](int rank) {
    EventLog log;
    Mesh mesh(store, rank, world_size, patience(), log.events());
    body(mesh, log);
    all_done.arrive_and_wait();
  });
}

void expect_clean(const std::vector<std::string>& outcomes) {
  for (size_t rank = 0; rank < outcomes.size(); ++rank) EXPECT_EQ(outcomes[rank], "") << "rank " << rank;
}

constexpr int kNumMessages = 100;
constexpr int kNumThreads = 4;

class MeshOf : public ::testing::TestWithParam<int> {};

TEST_P(MeshOf, every_pair_exchanges_messages_in_order) {
  expect_clean(with_mesh(GetParam(), [](Mesh& mesh, EventLog& log) {
    const auto payload = [](int from, int i) {
      return std::to_string(from) + ":" + std::to_string(i) + std::string(i * 7, '.');
    };
    for (int i = 0; i < kNumMessages; ++i) {
      for (int peer = 0; peer < mesh.world_size(); ++peer) {
        if (peer == mesh.rank()) continue;
        EXPECT_TRUE(mesh.send(peer, i % 2 == 0 ? ControlType::link : ControlType::abort, payload(mesh.rank(), i)));
      }
    }
    const auto messages = log.messages(static_cast<size_t>(kNumMessages * (mesh.world_size() - 1)));
    std::map<int, int> next;
    for (const EventLog::Message& message : messages) {
      const int i = next[message.peer]++;
      EXPECT_EQ(message.payload, payload(message.peer, i));
      EXPECT_EQ(message.type, i % 2 == 0 ? ControlType::link : ControlType::abort);
      EXPECT_EQ(message.fd, -1);
    }
    EXPECT_EQ(next.size(), static_cast<size_t>(mesh.world_size() - 1));
    for (const auto& [peer, count] : next) EXPECT_EQ(count, kNumMessages) << "from " << peer;
  }));
}

TEST_P(MeshOf, knows_every_peer) {
  expect_clean(with_mesh(GetParam(), [](Mesh& mesh, EventLog&) {
    EXPECT_EQ(mesh.world_size(), GetParam());
    for (int rank = 0; rank < mesh.world_size(); ++rank) {
      EXPECT_EQ(mesh.peer(rank).rank, rank);
      EXPECT_EQ(mesh.peer(rank).pid, ::getpid());
      EXPECT_EQ(mesh.peer(rank).boot_id, mesh.peer(0).boot_id);
    }
    EXPECT_FALSE(mesh.forked());
  }));
}

TEST_P(MeshOf, close_reaches_every_peer_as_a_bye_and_leaves_nothing_open) {
  const size_t before = num_open_descriptors();
  ThreadStore store;
  const int world_size = GetParam();
  expect_clean(run_ranks(world_size, [&](int rank) {
    EventLog log;
    Mesh mesh(store, rank, world_size, patience(), log.events());
    // Rank r leaves once all below it have: nobody sees a peer vanish without a bye, also not while leaving itself.
    const auto gone = log.gone(static_cast<size_t>(rank));
    ASSERT_EQ(gone.size(), static_cast<size_t>(rank));
    // In any order: rank 1 may hear rank 0's bye, and leave, before rank 0 has said it to the others.
    std::set<int> left;
    for (const EventLog::Gone& peer : gone) {
      EXPECT_TRUE(peer.said_bye) << "rank " << peer.peer;
      left.insert(peer.peer);
    }
    EXPECT_EQ(left.size(), static_cast<size_t>(rank));
    EXPECT_TRUE(left.empty() || *left.rbegin() == rank - 1);
    for (int peer = 0; peer < rank; ++peer) EXPECT_FALSE(mesh.send(peer, ControlType::abort, "too late"));
    mesh.close();
    mesh.close();
    if (rank + 1 < world_size) {
      EXPECT_FALSE(mesh.send(rank + 1, ControlType::abort, "closed"));
    }
    EXPECT_EQ(log.gone(static_cast<size_t>(rank)).size(), static_cast<size_t>(rank));
  }));
  EXPECT_EQ(num_open_descriptors(), before);
}

INSTANTIATE_TEST_SUITE_P(Ranks, MeshOf, ::testing::Values(1, 2, 3, 8));

TEST(Mesh, all_may_leave_at_once_and_nobody_seems_dead) {
  for (int round = 0; round < 20; ++round) {
    ThreadStore store;
    expect_clean(run_ranks(4, [&](int rank) {
      EventLog log;
      Mesh mesh(store, rank, 4, patience(), log.events());
      mesh.close();
      for (const EventLog::Gone& gone : log.gone(0)) EXPECT_TRUE(gone.said_bye) << "rank " << gone.peer;
    }));
  }
}

TEST(Mesh, says_that_a_goodbye_is_unread_until_it_is_delivered) {
  ThreadStore store;
  std::promise<void> busy, looked, said, go_on;
  expect_clean(run_ranks(2, [&](int rank) {
    EventLog log;
    MeshEvents events = log.events();
    if (rank == 1) {
      events.on_message = [&](int, ControlType type, const std::string&, int) {
        if (type != ControlType::abort) return;
        busy.set_value();
        go_on.get_future().wait();
      };
    }
    Mesh mesh(store, rank, 2, patience(), events);
    if (rank == 0) {
      ASSERT_TRUE(mesh.send(1, ControlType::abort, "what keeps the other's monitor busy"));
      looked.get_future().wait();
      mesh.close();
      said.set_value();
      return;
    }
    busy.get_future().wait();
    EXPECT_TRUE(mesh.has_unread(0)) << "being delivered";
    looked.set_value();
    said.get_future().wait();
    EXPECT_TRUE(mesh.has_unread(0)) << "in the socket";
    go_on.set_value();
    ASSERT_EQ(log.gone(1).size(), 1U);
    EXPECT_TRUE(log.gone(1)[0].said_bye);
    const Deadline deadline = patience();
    while (mesh.has_unread(0) && !deadline.passed()) std::this_thread::yield();
    EXPECT_FALSE(mesh.has_unread(0));
  }));
}

TEST(Mesh, a_world_of_one_uses_no_store_and_no_descriptor) {
  class NoStore : public Store {
    void set(const std::string&, const std::string&) override { ADD_FAILURE(); }
    std::string get(const std::string&, Deadline) override { throw WorldError("used"); }
  };
  NoStore store;
  const size_t before = num_open_descriptors();
  Mesh mesh(store, 0, 1, patience(), {});
  EXPECT_EQ(num_open_descriptors(), before);
  EXPECT_EQ(mesh.peer(0).rank, 0);
  EXPECT_TRUE(contains(outcome_of([&] { mesh.send(0, ControlType::link, ""); }), "usage: rank 0 has no peer 0"));
}

TEST(Mesh, passes_memory_to_a_peer) {
  expect_clean(with_mesh(2, [](Mesh& mesh, EventLog& log) {
    if (mesh.rank() == 0) {
      const Fd memory(::memfd_create("test", MFD_CLOEXEC));
      ASSERT_EQ(::ftruncate(memory.get(), 4096), 0);
      ASSERT_EQ(::pwrite(memory.get(), "seen by the peer", 16, 100), 16);
      EXPECT_TRUE(mesh.send(1, ControlType::link, "before"));
      EXPECT_TRUE(mesh.send(1, ControlType::link, std::string(kMaxControlPayloadBytes, 'm'), memory.get()));
      EXPECT_TRUE(mesh.send(1, ControlType::link, "after"));
      struct stat info{};
      EXPECT_EQ(::fstat(memory.get(), &info), 0);  // still ours
      return;
    }
    const auto messages = log.messages(3);
    ASSERT_EQ(messages.size(), 3u);
    EXPECT_EQ(messages[0].fd, -1);
    EXPECT_EQ(messages[2].fd, -1);
    EXPECT_EQ(messages[1].payload, std::string(kMaxControlPayloadBytes, 'm'));
    const Fd memory(messages[1].fd);
    char* bytes = static_cast<char*>(::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, memory.get(), 0));
    ASSERT_NE(bytes, MAP_FAILED);
    EXPECT_EQ(std::string(bytes + 100, 16), "seen by the peer");
    ::munmap(bytes, 4096);
  }));
}

TEST(Mesh, many_threads_may_send_to_one_peer) {
  expect_clean(with_mesh(2, [](Mesh& mesh, EventLog& log) {
    if (mesh.rank() == 0) {
      expect_clean(run_ranks(kNumThreads, [&](int thread) {
        for (int i = 0; i < kNumMessages; ++i) {
          EXPECT_TRUE(mesh.send(1, ControlType::link, std::string(20'000, static_cast<char>('a' + thread))));
        }
      }));
      return;
    }
    const auto messages = log.messages(kNumThreads * kNumMessages);
    std::map<std::string, int> counts;
    for (const EventLog::Message& message : messages) ++counts[message.payload];
    ASSERT_EQ(counts.size(), static_cast<size_t>(kNumThreads));
    for (const auto& [payload, count] : counts) {
      EXPECT_EQ(payload, std::string(20'000, payload[0]));
      EXPECT_EQ(count, kNumMessages);
    }
  }));
}

TEST(Mesh, wrong_sends_are_usage_errors) {
  expect_clean(with_mesh(2, [](Mesh& mesh, EventLog&) {
    const int other = 1 - mesh.rank();
    EXPECT_TRUE(contains(outcome_of([&] { mesh.send(mesh.rank(), ControlType::link, ""); }), "has no peer"));
    EXPECT_TRUE(contains(outcome_of([&] { mesh.send(2, ControlType::link, ""); }), "has no peer 2"));
    EXPECT_TRUE(contains(outcome_of([&] { mesh.send(-1, ControlType::link, ""); }), "has no peer -1"));
    EXPECT_TRUE(
        contains(outcome_of([&] { mesh.send(other, ControlType::bye, ""); }), "usage: only link, abort and status"));
    const std::string large(kMaxControlPayloadBytes + 1, 'x');
    EXPECT_TRUE(contains(outcome_of([&] { mesh.send(other, ControlType::link, large); }), "usage: a control message"));
  }));
}

TEST(Mesh, communicators_share_a_store_by_their_prefixes) {
  ThreadStore store;
  std::barrier all_done(2);
  expect_clean(run_ranks(2, [&](int rank) {
    EventLog log_a;
    EventLog log_b;
    // The second communicator numbers its ranks the other way round.
    Mesh a(store, rank, 2, patience(), log_a.events(), {"a", ""});
    Mesh b(store, 1 - rank, 2, patience(), log_b.events(), {"b", ""});
    a.send(1 - rank, ControlType::link, "in a");
    b.send(rank, ControlType::link, "in b");
    EXPECT_EQ(log_a.messages(1).at(0).payload, "in a");
    EXPECT_EQ(log_b.messages(1).at(0).payload, "in b");
    EXPECT_EQ(log_b.messages(1).at(0).peer, rank);
    all_done.arrive_and_wait();
  }));
}

TEST(Mesh, every_rank_hears_that_settings_differ_also_when_rank_0_serves_the_store) {
  const std::string id = unique_id();
  const auto outcomes = run_ranks(4, [&](int rank) {
    UnixStore store(id, rank, patience());
    Mesh(store, rank, 4, patience(), {}, {"p", rank == 2 ? "slots=4" : "slots=8"});
  });
  for (const std::string& outcome : outcomes) {
    EXPECT_TRUE(contains(outcome, "mismatch: the ranks' settings differ: rank 0 (pid ")) << outcome;
    EXPECT_TRUE(contains(outcome, "has 'slots=8', rank 2 (pid ")) << outcome;
    EXPECT_TRUE(contains(outcome, "has 'slots=4'")) << outcome;
  }
}

TEST(Mesh, ranks_with_other_world_sizes_are_a_mismatch) {
  ThreadStore store;
  const auto outcomes = run_ranks(2, [&](int rank) { Mesh(store, rank, rank == 0 ? 2 : 3, patience(), {}); });
  EXPECT_TRUE(contains(outcomes[0], "mismatch: the ranks' world sizes differ")) << outcomes[0];
  EXPECT_EQ(outcomes[0], outcomes[1]);
}

TEST(Mesh, missing_ranks_are_named_on_every_rank) {
  const std::string id = unique_id();
  const auto outcomes = run_ranks(5, [&](int rank) {
    if (rank == 1 || rank == 4) return;
    UnixStore store(id, rank, patience());
    Mesh(store, rank, 5, Deadline::after_seconds(0.3), {});
  });
  for (const int rank : {0, 2, 3}) {
    EXPECT_TRUE(contains(outcomes[rank], "timeout: rank " + std::to_string(rank) + " waited 0.")) << outcomes[rank];
    EXPECT_TRUE(contains(outcomes[rank], "for ranks 1, 4 of 5, which did not come")) << outcomes[rank];
  }
}

TEST(Mesh, a_rank_claimed_twice_is_a_usage_error) {
  // A second process claims rank 1 just after we have published ourselves as rank 1.
  class ClaimedTwice : public ThreadStore {
    std::string get(const std::string& key, Deadline deadline) override {
      if (key == "mesh/identity/1") set(key, encode_identity(describe_self(1, 2, "")));
      return ThreadStore::get(key, deadline);
    }
  };
  ClaimedTwice store;
  store.set("mesh/identity/0", encode_identity(describe_self(0, 2, "")));
  const std::string outcome = outcome_of([&] { Mesh(store, 1, 2, patience(), {}); });
  EXPECT_TRUE(contains(outcome, "usage: two processes claim rank 1")) << outcome;
}

TEST(Mesh, identities_that_cannot_be_read_are_a_mismatch) {
  ThreadStore store;
  store.set("mesh/identity/1", "of another version");
  const std::string outcome = outcome_of([&] { Mesh(store, 0, 2, patience(), {}); });
  EXPECT_TRUE(contains(outcome, "mismatch: rank 1 published an identity that rank 0 cannot read")) << outcome;
}

}  // namespace
}  // namespace ringtree::testing
