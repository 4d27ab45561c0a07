// StoreServer: the map of a SocketStore, served from one thread that polls the listener and all clients and never waits
// for a single one of them. On a Unix socket clients of another user are dropped on arrival (root's are not); on TCP
// clients first prove that they know the key. Silent ones are dropped after some seconds. Used by rank 0's store only;
// not an interface for anybody else.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "core/base/fd.h"
#include "core/bootstrap/store_frame.h"
#include "core/net/handshake.h"

namespace ringtree {

class StoreServer {
 public:
  /// Takes the listening socket and starts to serve. `key`: of the handshake; none on a Unix socket.
  explicit StoreServer(Fd listener, std::optional<Secret> key = {});
  /// Tells clients that wait that the store closes, ends the thread and closes all.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

 private:
  struct Client {
    Fd socket;
    std::string in;         // received, not yet a whole frame; bounded by the longest frame and one read
    std::string out;        // answer not yet sent
    std::string waits_for;  // the key of a get() without answer; empty: none
    int64_t wait_until_ns = 0;
    int64_t came_at_ns = 0;
    bool spoke = false;                          // sent at least one whole request, or showed that it knows the key
    bool answered = false;                       // its hello was: it may believe by now that it is welcome
    std::unique_ptr<CalleeHandshake> handshake;  // not yet done; null: none is needed any more
    bool drop = false;
  };

  // All of these run in the server's thread, which alone touches the members below it.
  void run();
  void poll_once();
  void accept_clients();
  bool is_welcome(int socket) const;
  void make_room();
  void serve(Client& client, short events);
  void receive(Client& client);
  void shake_hands(Client& client);
  void handle(Client& client, const StoreHeader& header, std::string key, std::string value);
  void answer(Client& client, StoreFrameKind kind, std::string_view value);
  void flush(Client& client);
  void expire();
  static int64_t silent_until_ns(const Client& client);  // when it is dropped if it goes on saying nothing
  int64_t next_event_ns() const;

  const std::optional<Secret> key_;
  Fd listener_;
  Fd stop_ = Fd();
  std::list<Client> clients_;  // a list: a client keeps its place while others come and go
  std::map<std::string, std::string> values_;
  size_t num_stored_bytes_ = 0;
  int64_t accept_again_ns_ = 0;
  bool stopped_ = false;

  int owner_pid_;
  std::thread thread_;
};

}  // namespace ringtree
