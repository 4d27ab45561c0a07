// Who has the name of a store on an abstract Unix socket, and who may.
#include "core/bootstrap/unix_store.h"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/bootstrap/unix_socket.h"

namespace ringtree {
namespace {

constexpr size_t kMaxIdBytes = 80;

}  // namespace

UnixStore::UnixStore(const std::string& id, int rank, Deadline deadline)
    : SocketStore("the store of id '" + id + "'"), id_(id) {
  if (id.empty() || id.size() > kMaxIdBytes) {
    throw UsageError("a job's id has 1 to 80 bytes, this one has " + std::to_string(id.size()) + ": choose another");
  }
  if (rank < 0) throw UsageError("rank " + std::to_string(rank) + " does not exist: ranks count from 0");
  socket_name_ = "ringtree-" + std::to_string(::geteuid()) + "-" + id;
  if (rank == 0) {
    SocketResult listener = listen_abstract(socket_name_);
    if (listener.error == EADDRINUSE) {
      throw UsageError("another job on this host uses id '" + id +
                       "'; choose another, or wait until that job has ended");
    }
    if (listener.error != 0) throw WorldError(errno_text(name() + " cannot listen", listener.error));
    serve(std::make_unique<StoreServer>(std::move(listener.socket)));
  }
  open(deadline);
}

Fd UnixStore::connect(Deadline deadline) {
  const int64_t start_ns = now_ns();
  for (int64_t pause_ns = kFirstPauseNs;; back_off(pause_ns, deadline)) {
    SocketResult connected = connect_abstract(socket_name_);
    if (connected.error == 0) {
      const std::optional<Credentials> server = peer_credentials(connected.socket.get());
      if (server && server->uid != ::geteuid() && server->uid != 0) {
        throw UsageError(name() + " is held by a process of user " + std::to_string(server->uid) +
                         ", not ours: choose another id");
      }
      return std::move(connected.socket);
    }
    if (connected.error != ECONNREFUSED && connected.error != EAGAIN) {
      throw WorldError(errno_text(name() + " cannot be reached", connected.error));
    }
    if (deadline.passed()) {
      throw TimeoutError("rank 0 did not open " + name() + " within " + seconds_text(now_ns() - start_ns) +
                             ": check that rank 0 was started, on this host and with the same id",
                         {0});
    }
  }
}

}  // namespace ringtree
