// Membership: the ranks of a communicator as one of them sees them: their pages, who has left or died, who has fallen
// silent, and their names for people. It sends nothing and waits for nothing: that is the session's.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/bootstrap/mesh.h"
#include "core/bootstrap/wire.h"
#include "core/engine/rank_page.h"
#include "core/engine/rank_status.h"
#include "core/transport/segment.h"

namespace ringtree {

/// So long a rank is silent before the others suspect it. Beats come twice a second: who is stopped for 3 s is not
/// suspected, who is stopped for 5 s is.
inline constexpr int64_t kSuspectNs = 4'000'000'000;

class Membership {
 public:
  /// Makes this rank's page. Throws WorldError: there is no memory for it.
  Membership(int rank, int world_size);
  /// Once the mesh stands; its thread may have called before.
  void attach(const Mesh& mesh) { mesh_.store(&mesh, std::memory_order_release); }  // pairs with mesh()
  /// Null before that.
  const Mesh* mesh() const { return mesh_.load(std::memory_order_acquire); }  // pairs with attach()

  RankPage& page(int rank) { return *pages_[static_cast<size_t>(rank)]; }
  RankPage& own_page() { return page(rank_); }
  Segment& own_segment() { return *segments_[static_cast<size_t>(rank_)]; }
  /// Whether `rank` is on another host.
  bool is_remote(int rank) const { return mesh() && mesh()->is_remote(rank); }
  std::string describe(int rank) const;  // "rank 2 (pid 4711)"; with its host if there are several

  /// What tells a peer of this rank's page; with it goes own_segment()'s descriptor, if the peer is on this host.
  std::string page_message(bool to_remote);
  /// A peer's page; on another host: its beginning, for a copy that this rank keeps. Throw WorldError.
  void add_page(int peer, ByteReader body, Fd fd);
  void add_page_of_remote(int peer, ByteReader body);
  /// A rank whose page is not here yet.
  std::optional<int> first_absent() const;

  /// What a rank of another host says of itself. False: its page is not a copy, or not here yet.
  bool show(int peer, const RankStatus& status);
  /// How often a rank has answered a question about its calls.
  uint64_t num_histories(int rank) const {
    return num_histories_[static_cast<size_t>(rank)].load(std::memory_order_acquire);  // pairs with show()
  }

  void set_gone(int rank, bool said_bye) {
    gone_[static_cast<size_t>(rank)].store(said_bye ? kSaidBye : kDied, std::memory_order_release);
  }
  /// `rank` has left or died.
  bool is_gone(int rank) const {
    return gone_[static_cast<size_t>(rank)].load(std::memory_order_acquire) != kHere;  // pairs with set_gone()
  }
  bool left_in_order(int rank) const {
    return gone_[static_cast<size_t>(rank)].load(std::memory_order_relaxed) == kSaidBye;
  }
  bool has_died(int rank) const {
    return gone_[static_cast<size_t>(rank)].load(std::memory_order_acquire) == kDied;  // pairs with set_gone()
  }
  /// A peer that has gone before it completed call `sequence`, if any.
  std::optional<int> first_missing(uint64_t sequence) const;

  /// This rank is set up: nobody is suspected for what was before.
  void begin() { began_ns_.store(now_ns(), std::memory_order_relaxed); }  // a time, it publishes nothing
  /// Ranks that have not been heard of for kSuspectNs though they have not left: stopped, or cut off.
  std::vector<int> suspects();
  int64_t silent_ns(int peer);

 private:
  enum Gone : int { kHere = 0, kSaidBye = 1, kDied = 2 };

  void add(int peer, std::shared_ptr<Segment> segment, std::unique_ptr<RankPage> copy);

  const int rank_, world_size_;
  std::atomic<const Mesh*> mesh_{nullptr};
  mutable std::mutex mutex_;  // protects the pages while they come
  std::vector<std::shared_ptr<Segment>> segments_;
  std::vector<std::unique_ptr<RankPage>> copies_;  // of the pages of ranks on other hosts
  std::vector<RankPage*> pages_;
  std::vector<std::atomic<int>> gone_;
  std::vector<std::atomic<uint64_t>> num_histories_;
  std::atomic<int64_t> began_ns_{0};
};

}  // namespace ringtree
