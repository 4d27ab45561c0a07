// The wire over loopback TCP, one connection for each two ranks. Every message has a header that says how long it is,
// so that ranks in calls of different sizes are told apart. All messages of a round are under way together.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <vector>

#include "core/base/fd.h"
#include "core/textbook/inbox.h"
#include "core/textbook/watch.h"
#include "core/textbook/wire.h"

namespace ringtree::textbook {

class TcpWire final : public Wire {
 public:
  /// Connects; collective. Throws as connect_peers() does.
  TcpWire(Mesh& mesh, Inbox& inbox, Watch& watch);

  void make_room(const BoundRounds& bound) override;
  bool exchange(const BoundRound& round, const Memory& memory) override;

 private:
  /// On the wire, in the host's byte order: it never leaves the host.
  struct Header {
    uint64_t bytes = 0;  // of the message, without this
  };

  /// One direction of a connection, within a round.
  struct Flow {
    std::vector<const BoundMessage*> messages;
    size_t next = 0;  // of them
    size_t done = 0;  // bytes of it that have passed, its header included
    Header header;
    bool is_open() const { return next < messages.size(); }
    void begin() {
      messages.clear();
      next = 0;
    }
    void add(const BoundMessage& message) { messages.push_back(&message); }
  };

  enum class Progress { none, some, stopped };

  Progress push(int peer, const Memory& memory);
  Progress pull(int peer, const Memory& memory);
  void pass(Flow& flow, ssize_t bytes);
  Progress ended(int peer);
  bool wait_for_room_or_data(const BoundRound& round);

  Watch& watch_;
  std::vector<Fd> sockets_;  // by peer
  std::vector<Flow> out_, in_;
  std::vector<pollfd> entries_;
};

}  // namespace ringtree::textbook
