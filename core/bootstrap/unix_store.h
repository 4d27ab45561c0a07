// UnixStore: the store of ranks that are processes of one host, without any file: rank 0 serves the map from a thread,
// on an abstract Unix socket whose name is derived from the user and an id that the launcher gives to all ranks of a
// job. Not for several hosts or containers with their own network namespace: abstract names end there (use FileStore).
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/bootstrap/store.h"
#include "core/bootstrap/store_frame.h"
#include "core/bootstrap/store_server.h"

namespace ringtree {

/// Rank 0 may destroy its store as soon as its Mesh stands: by then every rank has read all that it needs.
/// Fork: a child of rank 0 keeps the name alive until it ends or calls exec; make the store after forking helpers.
class UnixStore : public Store {
 public:
  /// `id`: 1 to 80 bytes, the same on all ranks of a job and on no other job of this user on this host. Rank 0 takes
  /// the name and serves; other ranks connect, trying again until `deadline`. UsageError: bad id or rank, another live
  /// job uses the id, or a process of another user holds the name; TimeoutError: rank 0 did not come; WorldError: no
  /// socket can be made.
  UnixStore(const std::string& id, int rank, Deadline deadline);

  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, Deadline deadline) override;

 private:
  struct Answer {
    StoreFrameKind kind;
    std::string value;
  };
  Fd connect(Deadline deadline) const;
  Answer ask(const std::string& request, const std::string& key, Deadline deadline);
  Answer receive_answer(int socket, const std::string& key, Deadline deadline) const;
  [[noreturn]] void server_ended(const std::string& key) const;

  std::string id_;
  std::string socket_name_;
  std::unique_ptr<StoreServer> server_;  // rank 0 only
  std::mutex mutex_;                     // protects idle_
  // One request at a time on a connection; threads that ask at once take one each, so that a waiting get() never keeps
  // another thread from the set() that it waits for.
  std::vector<Fd> idle_;
};

}  // namespace ringtree
