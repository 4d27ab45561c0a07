// The ranks of a communicator as one of them sees them: their pages, who is still there, and the one failure that ends
// it. It moves no data and makes no links; it passes the peers' link messages on to who does (link_directory.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/bootstrap/mesh.h"
#include "core/bootstrap/wire.h"
#include "core/engine/failure.h"
#include "core/engine/inlets.h"
#include "core/engine/rank_page.h"
#include "core/engine/rank_status.h"
#include "core/engine/settings.h"
#include "core/transport/segment.h"
#include "core/transport/tcp_port.h"

namespace ringtree {

/// So long a rank is silent before the others suspect it. Beats come twice a second: who is stopped for 3 s is not
/// suspected, who is stopped for 5 s is.
inline constexpr int64_t kSuspectNs = 4'000'000'000;

class Session {
 public:
  /// A peer's link message; called on the mesh's monitor thread, possibly before the constructor has returned. Takes
  /// `fd`. May throw WorldError, which ends the communicator.
  using LinkHandler = std::function<void(Session&, int peer, std::string_view payload, int fd)>;

  /// Meets the other ranks. Throws as Mesh does, and MismatchError if the settings differ. `once_met` is called when
  /// all have met and before any rank's constructor returns: the last moment at which the store is there for sure, as
  /// who serves it may leave at once.
  Session(Store& store, int rank, int world_size, const Settings& settings, const std::string& prefix,
          LinkHandler on_link, const std::function<void()>& once_met);
  ~Session();

  int rank() const { return rank_; }
  int world_size() const { return world_size_; }
  Mesh& mesh() { return *mesh_; }
  RankPage& page(int rank) { return *pages_[static_cast<size_t>(rank)]; }
  RankPage& own_page() { return page(rank_); }
  std::string describe(int rank) const;  // "rank 2 (pid 4711)"; with its host if there are several
  /// Whether `rank` is on another host.
  bool is_remote(int rank) const { return port_ && mesh_->is_remote(rank); }
  /// The streams to ranks of other hosts; null if there are none.
  TcpPort* port() { return port_.get(); }
  Inlets inlets() { return {own_page().bell, port_.get()}; }

  /// Tells the ranks of other hosts how this rank stands, and asks them what they know of call `sequence`: their pages
  /// here are as old as what they said last.
  void ask_status(uint64_t sequence) { ask_status(sequence, false); }
  /// The same, and of all calls before it. What comes back counts in num_histories().
  void ask_history(uint64_t sequence) { ask_status(sequence, true); }
  uint64_t num_histories(int rank) const {
    return num_histories_[static_cast<size_t>(rank)].load(std::memory_order_acquire);  // pairs with on_status()
  }
  /// Ranks that have not been heard of for kSuspectNs though they have not left: stopped, or cut off.
  std::vector<int> suspects();

  /// Something happened that a waiting call should look at. Relaxed: it only makes the look come sooner.
  bool attention() const { return attention_.load(std::memory_order_relaxed); }
  void clear_attention() { attention_.store(false, std::memory_order_relaxed); }

  bool failed() const { return failed_.load(std::memory_order_acquire); }  // pairs with the release in set_failure()
  /// Throws the failure, after passing it on (see pass_on()).
  [[noreturn]] void raise_failure();
  /// Meaningful once failed().
  Failure failure() const;
  /// Ends the communicator here and tells all peers. The first failure wins.
  void fail(FailureKind kind, const std::string& text);

  /// A peer that has gone before it completed call `sequence`, if any.
  std::optional<int> first_missing(uint64_t sequence) const;
  /// `rank` has left or died.
  bool is_gone(int rank) const {
    return gone_[static_cast<size_t>(rank)].load(std::memory_order_acquire) != kHere;  // pairs with on_gone()
  }
  bool left_in_order(int rank) const {
    return gone_[static_cast<size_t>(rank)].load(std::memory_order_relaxed) == kSaidBye;
  }

  /// Waits until `ready()`, called under the lock that notify() takes, holds. `give_up()` is called without the lock
  /// every few milliseconds and ends the wait by returning true. True if ready.
  bool wait(const std::function<bool()>& ready, const std::function<bool()>& give_up);
  /// Runs `change` under the lock of wait() and wakes waiters.
  void notify(const std::function<void()>& change);

  /// Leaves in order. Idempotent. `in_call`: another thread is in a call, which must have been made to fail.
  void close(bool in_call = false);

 private:
  enum Gone : int { kHere = 0, kSaidBye = 1, kDied = 2 };

  void on_message(int peer, ControlType type, const std::string& payload, int fd);
  void on_gone(int peer, bool said_bye);
  void on_status(int peer, std::string_view payload);
  void on_beat();
  void on_page_of_remote(int peer, std::string_view payload);
  void make_port(const Settings& settings);
  void ask_status(uint64_t sequence, bool of_history);
  void tell_status(int peer, const RankStatus& status);
  void warn_of_suspects();
  int64_t heard_ns(int peer);
  bool set_failure(Failure failure);
  void pass_on();
  void share_page(Deadline deadline);
  void add_page(int peer, std::string_view payload, int fd);

  const int rank_, world_size_;
  LinkHandler on_link_;
  std::atomic<bool> attention_{false}, failed_{false}, passed_on_{false};
  std::vector<std::atomic<int>> gone_;
  mutable std::mutex mutex_;  // protects failure_, segments_ and whatever users of wait() and notify() share
  std::condition_variable changed_;
  std::optional<Failure> failure_;
  std::vector<std::shared_ptr<Segment>> segments_;
  std::vector<std::unique_ptr<RankPage>> copies_;  // of the pages of ranks on other hosts
  std::vector<RankPage*> pages_;
  std::vector<std::atomic<uint64_t>> num_histories_;
  std::vector<bool> warned_;          // of silent ranks; used by the mesh's thread only
  std::atomic<int64_t> began_ns_{0};  // when this rank was set up: nobody is suspected for what was before
  std::unique_ptr<TcpPort> port_;
  // mesh_ once its constructor has returned: its thread may call us before (release when set, acquire in describe()).
  std::atomic<const Mesh*> known_mesh_{nullptr};
  std::unique_ptr<Mesh> mesh_;  // last: its thread uses the members above
};

/// The first byte of a link message's payload.
enum class LinkMessage : uint8_t {
  page = 1,
  links = 2,
  buffer = 3,
  page_of_remote = 4,
  links_of_remote = 5,
  accept = 6,
  meeting = 7
};

/// Announces a segment in a link message: which process made it, its id there, its size.
void write_segment(ByteWriter& writer, const Segment& segment);
/// What write_segment() wrote, not yet mapped.
struct AnnouncedSegment {
  bool same_process = false;  // the announcing rank is a thread of this process
  uint64_t process = 0, id = 0, bytes = 0;
};
AnnouncedSegment read_segment(ByteReader& reader);

}  // namespace ringtree
