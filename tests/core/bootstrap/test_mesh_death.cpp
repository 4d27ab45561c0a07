// The mesh with ranks as processes that die: killed, ended with and without a bye, stopped, and with forked children of
// theirs that keep their sockets open. Prints how long the notice took; the promise is one second. The parent has no
// threads when it forks. Ranks as threads are in test_mesh.cpp.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/bootstrap/mesh.h"
#include "core/bootstrap/unix_store.h"
#include "tests/core/bootstrap/child_process.h"
#include "tests/core/bootstrap/mesh_deaths.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

using Pipe = ChildProcess::Pipe;
using Body = std::function<int(Mesh& mesh, EventLog& log, const Pipe& pipe)>;

// A job of `world_size` processes that all have their mesh; then each runs `body`.
std::vector<ChildProcess> start_job(int world_size, const Body& body) {
  const std::string id = unique_id();
  std::vector<ChildProcess> ranks;
  for (int rank = 0; rank < world_size; ++rank) {
    ranks.emplace_back([=](const Pipe& pipe) {
      auto store = std::make_unique<UnixStore>(id, rank, patience());
      EventLog log;
      Mesh mesh(*store, rank, world_size, patience(), log.events());
      store.reset();  // as promised: the mesh stands, nobody needs the store, not even rank 0's
      pipe.say("up");
      return body(mesh, log, pipe);
    });
  }
  for (const ChildProcess& rank : ranks) EXPECT_EQ(rank.pipe().hear(), "up");
  return ranks;
}

class MeshDeath : public ::testing::TestWithParam<int> {};

TEST_P(MeshDeath, kill_reaches_every_survivor_within_a_second) {
  const int world_size = GetParam();
  for (const int victim : {0, world_size - 1}) {
    auto ranks =
        start_job(world_size, [](Mesh&, EventLog& log, const Pipe& pipe) { return report_and_stay(log, pipe); });
    expect_kill_noticed(ranks, victim);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, MeshDeath, ::testing::Values(2, 3, 8));

TEST(MeshDeath, kill_is_noticed_while_a_forked_child_keeps_the_sockets_open) {
  // What a data loader does: its workers are forks of the rank and outlive it for a while.
  std::vector<ChildProcess> ranks = start_job(3, [](Mesh& mesh, EventLog& log, const Pipe& pipe) {
    if (mesh.rank() == 1) {
      if (::fork() == 0) {
        pipe.hear();  // told to end once the rank is dead; until then this worker lives on, with all the rank's sockets
        ::_exit(0);
      }
      pipe.say("forked");
    } else {
      report_first_gone(log, pipe);
    }
    pipe.hear();
    return 0;
  });
  ASSERT_EQ(ranks[1].pipe().hear(), "forked");
  const WaitsForCores waits(ranks);
  const int64_t start_ns = now_ns();
  ranks[1].kill_now();
  const int64_t slowest_ns = slowest_notice(ranks, 1, "died", start_ns, waits);
  std::printf("[ measured ] rank 1 of 3 killed, its worker alive: slowest survivor told after %.2f ms\n",
              static_cast<double>(slowest_ns) * 1e-6);
  ranks[1].pipe().say("end of the worker");
}

TEST(MeshDeath, a_forked_child_that_ends_changes_nothing) {
  auto ranks = start_job(2, outlive_forks);
  expect_outlived(ranks);
}

TEST(MeshDeath, an_orderly_end_is_a_bye_and_an_exit_without_close_is_a_death) {
  for (const bool orderly : {true, false}) {
    auto ranks = start_job(
        3, [=](Mesh& mesh, EventLog& log, const Pipe& pipe) { return end_when_told(mesh, log, pipe, orderly); });
    expect_end_noticed(ranks, orderly);
  }
}

TEST(MeshDeath, the_last_words_of_a_rank_arrive_before_its_end) {
  auto ranks = start_job(2, [](Mesh& mesh, EventLog& log, const Pipe& pipe) {
    if (mesh.rank() == 1) {
      for (int i = 0; i < 20; ++i) mesh.send(0, ControlType::abort, "reason " + std::to_string(i));
      ::_exit(0);
    }
    if (log.gone(1).empty()) return 1;
    pipe.say(std::to_string(log.messages(0).size()));
    return 0;
  });
  EXPECT_EQ(ranks[0].pipe().hear(), "20");
}

TEST(MeshDeath, a_stopped_peer_cannot_hold_up_send_or_close) {
  constexpr int kMoreThanFit = 100'000;
  for (const size_t payload_bytes : {size_t{0}, kMaxControlPayloadBytes}) {
    auto ranks = start_job(3, [=](Mesh& mesh, EventLog& log, const Pipe& pipe) {
      pipe.hear();
      if (mesh.rank() != 0) return 0;
      const int64_t start_ns = now_ns();
      const std::string payload(payload_bytes, 'x');
      int num_sent = 0;
      while (num_sent < kMoreThanFit && mesh.send(2, ControlType::link, payload)) ++num_sent;
      const int64_t sent_ns = now_ns() - start_ns;
      mesh.close();
      const int64_t closed_ns = now_ns() - start_ns - sent_ns;
      const bool full = num_sent > 0 && num_sent < kMoreThanFit;
      pipe.say(full && sent_ns < 5'000'000'000 && closed_ns < 1'000'000'000 ? "in time" : "late");
      pipe.say(std::to_string(log.gone(0).size()));
      return 0;
    });
    ranks[2].signal(SIGSTOP);
    ranks[0].pipe().say("go");
    EXPECT_EQ(ranks[0].pipe().hear(), "in time") << payload_bytes;
    const std::string num_gone = ranks[0].pipe().hear();
    // An empty frame fits wholly or not at all, so close() waits to say bye to rank 2. Meanwhile rank 1 has heard its
    // own bye and shut its end, which is not a death. (Of a large frame a part may have left: then the link to rank 2
    // has ended.)
    if (payload_bytes == 0) {
      EXPECT_EQ(num_gone, "0");
    }
  }
}

TEST(MeshDeath, a_rank_killed_during_set_up_is_named_before_the_deadline) {
  const std::string id = unique_id();
  std::vector<ChildProcess> ranks;
  // Rank 1 publishes itself and is then stopped for good; rank 0 has all identities and waits for its call.
  ranks.emplace_back([&](const Pipe& pipe) {
    UnixStore store(id, 0, patience());
    pipe.say("store is open");
    pipe.say(outcome_of([&] { Mesh(store, 0, 2, patience(), {}); }));
    return 0;
  });
  ranks.emplace_back([&](const Pipe& pipe) {
    UnixStore store(id, 1, patience());
    const PeerIdentity self = describe_self(1, 2, "");
    const SocketResult listener = listen_abstract(self.socket_name);
    store.set("mesh/identity/1", encode_identity(self));
    pipe.say("published");
    pipe.hear();
    return 0;
  });
  EXPECT_EQ(ranks[0].pipe().hear(), "store is open");
  EXPECT_EQ(ranks[1].pipe().hear(), "published");
  const int64_t start_ns = now_ns();
  ranks[1].kill_now();
  const std::string outcome = ranks[0].pipe().hear();
  EXPECT_TRUE(contains(outcome, "peer: rank 1 (pid " + std::to_string(ranks[1].pid()))) << outcome;
  EXPECT_LT(now_ns() - start_ns, 5'000'000'000);
}

}  // namespace
}  // namespace ringtree::testing
