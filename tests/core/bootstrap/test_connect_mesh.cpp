// The door of the mesh: strangers at its listener, peers that end during set-up, stores with an earlier job's ranks.
// Strangers here have our user; those of another are refused by SO_PEERCRED in connect_mesh.cpp, which a test could
// only show with a second user.
#include <poll.h>
#include <sys/socket.h>

#include <barrier>
#include <random>

#include "core/bootstrap/connect_mesh.h"
#include "core/bootstrap/control_message.h"
#include "core/bootstrap/mesh.h"
#include "core/bootstrap/thread_store.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {
namespace {

std::vector<PeerIdentity> identities_of(int world_size) {
  std::vector<PeerIdentity> identities;
  for (int rank = 0; rank < world_size; ++rank) identities.push_back(describe_self(rank, world_size, ""));
  return identities;
}

Fd listen_as(const PeerIdentity& identity) {
  SocketResult result = listen_abstract(identity.socket_name);
  EXPECT_EQ(result.error, 0);
  return std::move(result.socket);
}

// A frame that arrives at one end must leave from the other: the two sockets are one connection.
void expect_connected(const std::vector<std::vector<Fd>>& sockets, int a, int b) {
  const std::string text = std::to_string(a) + " to " + std::to_string(b);
  ASSERT_TRUE(write_all(sockets[a][b].get(), text, patience()));
  char buffer[64];
  ASSERT_TRUE(wait_for(sockets[b][a].get(), POLLIN, patience()));
  const ssize_t got = ::recv(sockets[b][a].get(), buffer, sizeof(buffer), 0);
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(buffer, static_cast<size_t>(got)), text);
}

TEST(ConnectMesh, strangers_neither_get_in_nor_hold_anybody_up) {
  constexpr int kWorldSize = 3;
  const auto identities = identities_of(kWorldSize);
  std::vector<Fd> listeners;
  for (const PeerIdentity& identity : identities) listeners.push_back(listen_as(identity));
  // All strangers come before any rank, so they are first in every queue: silent ones, noise, half a hello, a whole
  // hello with a wrong token, with another rank's token, with our own rank, with a rank that does not exist.
  std::mt19937 random(20240604);
  std::string noise(kHelloFrameBytes, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  std::vector<Fd> strangers;
  for (int rank = 0; rank < kWorldSize; ++rank) {
    const std::vector<std::string> attacks = {
        "",
        noise,
        encode_hello_frame({2, identities[2].token}).substr(0, kHelloFrameBytes - 1),
        encode_hello_frame({2, std::string(kTokenBytes, '0')}),
        encode_hello_frame({2, identities[1].token}),
        encode_hello_frame({rank, identities[rank].token}),
        encode_hello_frame({kWorldSize, identities[2].token}),
        encode_control_frame(ControlType::link, std::string(kMaxControlPayloadBytes, 'x'), false),
    };
    for (int repeat = 0; repeat < 12; ++repeat) {
      SocketResult stranger = connect_abstract(identities[rank].socket_name);
      ASSERT_EQ(stranger.error, 0);
      ASSERT_TRUE(write_all(stranger.socket.get(), attacks[static_cast<size_t>(repeat) % attacks.size()], patience()));
      strangers.push_back(std::move(stranger.socket));
    }
    for (int silent = 0; silent < 40; ++silent) {
      SocketResult stranger = connect_abstract(identities[rank].socket_name);
      ASSERT_EQ(stranger.error, 0);
      strangers.push_back(std::move(stranger.socket));
    }
  }
  std::vector<std::vector<Fd>> sockets(kWorldSize);
  const int64_t start_ns = now_ns();
  const auto outcomes = run_ranks(
      kWorldSize, [&](int rank) { connect_mesh(listeners[rank], identities, rank, patience(), sockets[rank]); });
  EXPECT_LT(now_ns() - start_ns, 5'000'000'000);
  for (const std::string& outcome : outcomes) ASSERT_EQ(outcome, "");
  for (int a = 0; a < kWorldSize; ++a) {
    EXPECT_FALSE(sockets[a][a].valid());
    for (int b = 0; b < kWorldSize; ++b) {
      if (a != b) expect_connected(sockets, a, b);
    }
  }
}

TEST(ConnectMesh, a_rank_that_proves_itself_wrongly_is_named_when_time_is_up) {
  const auto identities = identities_of(2);
  const Fd listener = listen_as(identities[0]);
  const Fd other = listen_as(identities[1]);
  const SocketResult stranger = connect_abstract(identities[0].socket_name);
  ASSERT_TRUE(write_all(stranger.socket.get(), encode_hello_frame({1, std::string(kTokenBytes, 'f')}), patience()));
  std::vector<Fd> made;
  const std::string outcome =
      outcome_of([&] { connect_mesh(listener, identities, 0, Deadline::after_seconds(0.3), made); });
  EXPECT_TRUE(contains(outcome, "timeout: rank 0 waited 0.")) << outcome;
  EXPECT_TRUE(contains(outcome, "for rank 1 (pid ")) << outcome;
}

TEST(ConnectMesh, a_pid_that_is_not_the_published_one_is_refused) {
  auto identities = identities_of(2);
  const Fd listener0 = listen_as(identities[0]);
  const Fd listener1 = listen_as(identities[1]);
  identities[0].pid = 1;
  std::vector<Fd> made;
  const std::string outcome =
      outcome_of([&] { connect_mesh(listener1, identities, 1, Deadline::after_seconds(5), made); });
  EXPECT_TRUE(contains(outcome, "peer: rank 0 (pid 1 on ")) << outcome;
}

TEST(ConnectMesh, peers_that_ended_are_noticed_long_before_the_deadline) {
  for (const int survivor : {0, 1}) {
    const auto identities = identities_of(2);
    const Fd listener = listen_as(identities[survivor]);  // the other one's is closed, as after its death
    const int64_t start_ns = now_ns();
    std::vector<Fd> made;
    const std::string outcome = outcome_of([&] { connect_mesh(listener, identities, survivor, patience(), made); });
    EXPECT_LT(now_ns() - start_ns, 5'000'000'000);
    EXPECT_TRUE(contains(outcome, "peer: rank " + std::to_string(1 - survivor) + " (pid ")) << outcome;
    EXPECT_TRUE(contains(outcome, "ended while rank " + std::to_string(survivor) + " connected to it")) << outcome;
  }
}

TEST(ConnectMesh, ranks_of_an_earlier_job_in_the_store_are_an_error_that_says_so) {
  ThreadStore store;
  expect_all_well(run_ranks(3, [&](int rank) { Mesh(store, rank, 3, patience(), {}); }));
  const std::string of_rank_1 = outcome_of([&] { Mesh(store, 1, 3, patience(), {}); });
  EXPECT_TRUE(contains(of_rank_1, "peer: rank 0 (pid ")) << of_rank_1;
  EXPECT_TRUE(contains(of_rank_1, "use a fresh store")) << of_rank_1;
  // Rank 1 left word of that; under another prefix nobody has.
  ThreadStore other;
  expect_all_well(run_ranks(3, [&](int rank) { Mesh(other, rank, 3, patience(), {}); }));
  const std::string of_rank_2 = outcome_of([&] { Mesh(other, 2, 3, patience(), {}); });
  EXPECT_TRUE(contains(of_rank_2, "use a fresh store (this one may hold an earlier job's ranks)")) << of_rank_2;
}

}  // namespace
}  // namespace ringtree::testing
