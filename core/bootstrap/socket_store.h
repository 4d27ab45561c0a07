// SocketStore: the client of a store that rank 0 serves from a thread over sockets, of whatever kind: UnixStore for
// ranks of one host, TcpStore for several. Rank 0 asks its own server over a socket like everybody else: one code path.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/bootstrap/store.h"
#include "core/bootstrap/store_frame.h"
#include "core/bootstrap/store_server.h"

namespace ringtree {

/// Rank 0 may destroy its store as soon as its Mesh stands: by then every rank has read all that it needs.
class SocketStore : public Store {
 public:
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, Deadline deadline) override;
  bool is_served_here() const override { return server_ != nullptr; }

 protected:
  /// `name`: as messages call it, "the store of id 'x'".
  explicit SocketStore(std::string name) : name_(std::move(name)) {}
  /// Rank 0: what serves it.
  void serve(std::unique_ptr<StoreServer> server) { server_ = std::move(server); }
  /// A connection of which the server is sure. Throws as the constructors of those that implement it.
  virtual Fd connect(Deadline deadline) = 0;
  /// Connects for the first time: fails in the constructor, not in the first use.
  void open(Deadline deadline) { idle_.push_back(connect(deadline)); }
  const std::string& name() const { return name_; }

  /// Waits between two attempts to connect: for `pause_ns`, at most until the deadline; the next pause is twice as
  /// long.
  static void back_off(int64_t& pause_ns, Deadline deadline);
  static constexpr int64_t kFirstPauseNs = 1'000'000;

 private:
  struct Answer {
    StoreFrameKind kind;
    std::string value;
  };
  Answer ask(const std::string& request, const std::string& key, Deadline deadline);
  Fd connect_again(const std::string& key, Deadline deadline);
  Answer receive_answer(int socket, const std::string& key, Deadline deadline);
  [[noreturn]] void server_ended(const std::string& key);

  const std::string name_;
  std::unique_ptr<StoreServer> server_;  // rank 0 only
  std::mutex mutex_;                     // protects idle_
  // One request at a time on a connection; threads that ask at once take one each, so that a waiting get() never keeps
  // another thread from the set() that it waits for.
  std::vector<Fd> idle_;
  // Until when it is connected again, once a connection was ended at the other end. A time, it publishes nothing.
  std::atomic<int64_t> return_by_ns_{INT64_MAX};
};

}  // namespace ringtree
