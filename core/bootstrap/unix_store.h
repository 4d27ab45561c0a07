// UnixStore: the store of ranks that are processes of one host, without any file: rank 0 serves the map from a thread,
// on an abstract Unix socket whose name is derived from the user and an id that the launcher gives to all ranks of a
// job. Not for several hosts or containers with their own network namespace: abstract names end there (use FileStore or
// TcpStore).
#pragma once

#include <string>

#include "core/bootstrap/socket_store.h"

namespace ringtree {

/// Fork: a child of rank 0 keeps the name alive until it ends or calls exec; make the store after forking helpers.
class UnixStore final : public SocketStore {
 public:
  /// `id`: 1 to 80 bytes, the same on all ranks of a job and on no other job of this user on this host. Rank 0 takes
  /// the name and serves; other ranks connect, trying again until `deadline`. UsageError: bad id or rank, another live
  /// job uses the id, or a process of another user holds the name; TimeoutError: rank 0 did not come; WorldError: no
  /// socket can be made.
  UnixStore(const std::string& id, int rank, Deadline deadline);
  bool spans_hosts() const override { return false; }

 private:
  Fd connect(Deadline deadline) override;

  std::string id_;
  std::string socket_name_;
};

}  // namespace ringtree
