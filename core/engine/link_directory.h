// The links of one rank: made when a plan first needs them, announced to their readers over the mesh, kept for every
// later plan that uses the same readers, tag and channel. Memory is the sender's and capped.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/engine/plan.h"
#include "core/engine/session.h"

namespace ringtree {

class LinkDirectory final : public LinkSource {
 public:
  explicit LinkDirectory(const Settings& settings) : settings_(settings) {}
  /// Before the first plan. Announcements may come earlier: a session delivers messages while it is being made.
  void attach(Session& session) { session_ = &session; }

  /// Makes the outgoing links of `program` that do not exist yet and tells every reader which link plan `plan_key`
  /// means. Throws UsageError if they do not fit the memory cap.
  void announce(const Program& program, uint64_t plan_key, int num_channels);

  /// From now on recv_end() speaks of this plan and waits at most while `give_up()` is false.
  void begin_plan(uint64_t plan_key, std::function<bool()> give_up) {
    plan_key_ = plan_key;
    give_up_ = std::move(give_up);
  }
  SendEnd* send_end(const std::vector<int>& readers, int tag, int channel) override;
  /// Waits until the peer has announced the link; throws the session's failure if it does not come.
  RecvEnd* recv_end(int peer, int tag, int channel) override;

  /// A peer's announcement; on the mesh's monitor thread.
  void on_announcement(Session& session, int peer, std::string_view payload, int fd);

  /// No more announcements: the links' memory stays, its descriptors are given back.
  void close_descriptors();

  size_t outgoing_bytes() const { return outgoing_bytes_; }

 private:
  struct OutgoingKey {
    std::vector<int> readers;  // sorted
    int tag, channel;
    auto operator<=>(const OutgoingKey&) const = default;
  };
  struct Outgoing {
    std::shared_ptr<Segment> segment;
    size_t offset = 0;
    std::unique_ptr<SendEnd> end;
  };
  struct Incoming {
    std::shared_ptr<Segment> segment;
    uint64_t offset = 0;
    LinkGeometry geometry;
    int reader_index = 0;
  };
  using SegmentKey = std::tuple<int, uint64_t, uint64_t>;  // peer, process, id

  LinkGeometry geometry(const OutgoingKey& key) const;
  void make_links(const std::set<OutgoingKey>& keys);
  void tell(int reader, const std::set<OutgoingKey>& keys, uint64_t plan_key);
  Nic nic() const;
  bool remote(int peer) const;

  const Settings settings_;
  // Used by the calling thread only.
  Session* session_ = nullptr;
  std::map<OutgoingKey, Outgoing> outgoing_;
  std::map<int, std::set<uint64_t>> told_segments_;  // reader -> segments whose descriptor it has
  std::map<SegmentKey, std::map<std::pair<uint64_t, int>, std::unique_ptr<RecvEnd>>> recv_ends_;
  size_t outgoing_bytes_ = 0;
  uint64_t plan_key_ = 0;
  std::function<bool()> give_up_;
  // Shared with the monitor thread under the session's lock (Session::wait, Session::notify).
  std::map<SegmentKey, std::shared_ptr<Segment>> segments_;
  std::map<std::tuple<uint64_t, int, int, int>, std::pair<SegmentKey, Incoming>> incoming_;  // plan, peer, tag, channel
};

}  // namespace ringtree
