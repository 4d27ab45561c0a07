// Helper: another program that has the port of rank 0's store.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <functional>
#include <thread>
#include <utility>

#include "core/base/fd.h"
#include "core/net/tcp_socket.h"
#include "tests/core/bootstrap/rank_threads.h"

namespace ringtree::testing {

/// Takes connections and does to each what `act` does, until it is destroyed.
class Stranger {
 public:
  explicit Stranger(std::function<void(Fd)> act) : act_(std::move(act)) {
    thread_ = std::thread([this] {
      while (wait_for(listener_.socket.get(), POLLIN, patience())) {
        SocketResult taken = accept_connection(listener_.socket.get());
        if (taken.error != 0) return;  // shut down
        act_(std::move(taken.socket));
      }
    });
  }
  ~Stranger() {
    ::shutdown(listener_.socket.get(), SHUT_RDWR);
    thread_.join();
  }
  uint16_t port() const { return local_address(listener_.socket.get())->port(); }

 private:
  const std::function<void(Fd)> act_;
  const SocketResult listener_ = listen_tcp(*Address::parse("127.0.0.1:0"), 8);
  std::thread thread_;
};

}  // namespace ringtree::testing
