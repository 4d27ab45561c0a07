// The connections between ranks: who gets one, and who knocks in vain.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "core/bootstrap/wire.h"
#include "core/textbook/tcp_connect.h"
#include "tests/core/textbook/group_threads.h"

namespace ringtree::textbook::testing {
namespace {

/// A rank with its mesh, before it has connections.
struct Rank {
  Rank(Store& store, int rank, int world_size) : watch(rank, world_size), inbox(world_size) {
    watch.begin(what, 0, kTestTimeoutSeconds);
    MeshEvents events;
    events.on_message = [this](int peer, ControlType, std::string payload, int fd) {
      inbox.add(peer, {std::move(payload), Fd(fd)});
    };
    events.on_gone = [this](int peer, bool said_bye) { watch.on_gone(peer, said_bye); };
    mesh = std::make_unique<Mesh>(store, rank, world_size, patience(), std::move(events));
    watch.attach(*mesh);
  }
  const std::string what = "a test";
  Watch watch;
  Inbox inbox;
  std::unique_ptr<Mesh> mesh;
};

Fd knock(uint16_t port, std::string_view said) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("nobody listens");
  ::send(socket.get(), said.data(), said.size(), MSG_NOSIGNAL);
  return socket;
}

// One byte each way.
void greet(int socket, char mine, char theirs) {
  ::send(socket, &mine, 1, MSG_NOSIGNAL);
  char heard = 0;
  if (!wait_for(socket, POLLIN, patience()) || ::recv(socket, &heard, 1, 0) != 1 || heard != theirs)
    throw std::runtime_error(std::string("heard ") + heard + " instead of " + theirs);
}

TEST(TcpConnect, connects_each_two_ranks_once) {
  ThreadStore store;
  expect_all_well(run_ranks(4, [&](int rank) {
    Rank self(store, rank, 4);
    const std::vector<Fd> sockets = connect_peers(*self.mesh, self.inbox, self.watch);
    for (int peer = 0; peer < 4; ++peer) {
      if (sockets[static_cast<size_t>(peer)].valid() != (peer != rank)) throw std::runtime_error("a wrong socket");
      if (peer != rank)
        greet(sockets[static_cast<size_t>(peer)].get(), static_cast<char>('a' + rank), static_cast<char>('a' + peer));
    }
  }));
}

TEST(TcpConnect, lets_nobody_in_who_does_not_know_the_token) {
  ThreadStore store;
  std::vector<Fd> strangers;
  expect_all_well(run_ranks(2, [&](int rank) {
    Rank self(store, rank, 2);
    if (rank == 1) {  // strangers who have found the port come before this rank does
      Announcement announced = self.inbox.take(0, self.watch);
      ByteReader reader(announced.payload);
      const auto port = static_cast<uint16_t>(reader.number(2));
      const std::string wrong_token = ByteWriter().number(1, 4).bytes(std::string(kTokenBytes, 'a')).take();
      const std::string not_its_rank = ByteWriter().number(0, 4).bytes(self.mesh->peer(0).token).take();
      const std::string no_rank = ByteWriter().number(7, 4).bytes(self.mesh->peer(1).token).take();
      for (const std::string& said : {std::string(), std::string("hello"), wrong_token, not_its_rank, no_rank})
        strangers.push_back(knock(port, said));
      self.inbox.add(0, std::move(announced));
    }
    const std::vector<Fd> sockets = connect_peers(*self.mesh, self.inbox, self.watch);
    greet(sockets[static_cast<size_t>(1 - rank)].get(), static_cast<char>('a' + rank), static_cast<char>('b' - rank));
  }));
}

TEST(TcpConnect, listens_on_loopback_only) {
  ThreadStore store;
  expect_all_well(run_ranks(2, [&](int rank) {
    Rank self(store, rank, 2);
    const std::vector<Fd> sockets = connect_peers(*self.mesh, self.inbox, self.watch);
    sockaddr_in own{};
    socklen_t length = sizeof own;
    ::getsockname(sockets[static_cast<size_t>(1 - rank)].get(), reinterpret_cast<sockaddr*>(&own), &length);
    if (own.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) throw std::runtime_error("not on loopback");
  }));
}

TEST(TcpConnect, says_who_left_instead) {
  ThreadStore store;
  const auto outcomes = run_ranks(3, [&](int rank) {
    Rank self(store, rank, 3);
    if (rank == 2) return;
    connect_peers(*self.mesh, self.inbox, self.watch);
  });
  EXPECT_TRUE(contains(outcomes[0], "rank 2 (pid ") && contains(outcomes[0], "left before it completed a test"))
      << outcomes[0];
}

}  // namespace
}  // namespace ringtree::textbook::testing
