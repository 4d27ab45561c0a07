// The links of one rank: made when a plan first needs them, announced to their readers over the mesh, kept for every
// later plan that uses the same readers, tag, channel and protocol. Memory is the sender's and capped.
//
// Two ranks of a host that send to each other share a pool of slots (core/transport/exchange_pool.h), made by the lower
// of the two; pools and the links over them belong to one family of plans alone. Links to ranks of other hosts go
// through the session's port (core/transport/tcp_link.h): the reader has memory of its own for each, and messages leave
// once it has said so.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "core/engine/plan.h"
#include "core/engine/session.h"
#include "core/engine/shared_regions.h"

namespace ringtree {

/// Plans that share links over pools: those of one algorithm that differ in nothing but their root. In a single one of
/// them a rank only sends to another or only receives; over all roots they often do both. Most families have one plan.
struct PlanFamily {
  uint64_t key = 0;                                        // alike on all ranks
  std::vector<std::shared_ptr<const Schedule>> schedules;  // all of them, by root
};

class LinkDirectory final : public LinkSource {
 public:
  explicit LinkDirectory(const Settings& settings) : settings_(settings) {}
  /// Before the first plan. Announcements may come earlier: a session delivers messages while it is being made.
  /// `fenced`: how links publish, alike on all ranks. `shared`: the peers' shared buffers.
  void attach(Session& session, const SharedRegions& shared, bool fenced) {
    session_ = &session;
    shared_ = &shared;
    fenced_ = fenced;
  }

  /// Makes the outgoing links of `program`, one of `schedule`'s, that do not exist yet, and tells every reader which
  /// link plan `plan_key` means. From now on send_end() and recv_end() speak of this plan and wait at most while
  /// `give_up()` is false. Throws UsageError if the links do not fit the memory cap.
  void begin_plan(const Schedule& schedule, const Program& program, uint64_t plan_key, const PlanFamily& family,
                  Protocol protocol, int num_channels, std::function<bool()> give_up);
  /// Whether links of this protocol take slots from pools at all.
  bool uses_pools(Protocol protocol) const { return protocol == Protocol::simple && !settings_.emulation; }
  SendEnd* send_end(const std::vector<int>& readers, int tag, int channel) override;
  /// Waits until the peer has announced the link; throws the session's failure if it does not come.
  RecvEnd* recv_end(int peer, int tag, int channel) override;
  bool can_read_in_place(const std::vector<int>& readers) const override;
  bool are_on_other_hosts(const std::vector<int>& readers) const override;

  /// Whether `peer` has announced the link of this tag for plan `plan_key`: recv_end() would not wait.
  bool is_announced(uint64_t plan_key, int peer, int tag);

  /// A peer's announcement; on the mesh's monitor thread.
  void on_announcement(Session& session, int peer, ByteReader reader, Fd fd);
  /// The same of a peer on another host, and its word that it has made the other end of a link.
  static void on_accept(Session& session, int peer, ByteReader reader);
  void on_remote_announcement(Session& session, int peer, ByteReader reader);

  /// No more announcements: the links' memory stays, its descriptors are given back.
  void close_descriptors();

  size_t outgoing_bytes() const { return outgoing_bytes_; }

 private:
  struct OutgoingKey {
    std::vector<int> readers;  // sorted
    int tag, channel;
    Protocol protocol;
    uint64_t family;  // of a link over a pool, else 0
    auto operator<=>(const OutgoingKey&) const = default;
  };
  struct Outgoing {
    std::shared_ptr<Segment> segment;
    size_t offset = 0;
    std::unique_ptr<SendEnd> end;     // made when a plan asks for it, or when a reader on another host is told
    std::map<int, uint32_t> numbers;  // by such a reader: what the port calls its part of the link
  };
  using SegmentKey = std::tuple<int, uint64_t, uint64_t>;  // peer, process, id
  struct Incoming {
    std::shared_ptr<Segment> segment;
    SegmentKey segment_key;
    uint64_t offset = 0;
    LinkGeometry geometry;
    int reader_index = 0;
  };
  struct Place {
    std::shared_ptr<Segment> segment;
    uint64_t offset = 0;
  };
  /// What this rank shares with one peer for one family.
  struct Exchange {
    int own_links = 0, peer_links = 0;
    Place memory;       // empty until it is known
    bool told = false;  // the peer, where this rank made the memory
    std::unique_ptr<ExchangeSide> side;
    std::vector<SendEnd*> own_ends;

    PoolGeometry geometry() const { return {pool_slots(own_links, peer_links), kSlotBytes}; }
  };
  using ExchangeKey = std::pair<uint64_t, int>;          // family, peer
  using PlanLink = std::tuple<uint64_t, int, int, int>;  // plan, peer, tag, channel
  /// The reading end of a link from another host.
  struct FromRemote {
    TcpPort::Incoming incoming;
    std::unique_ptr<RecvEnd> end;
  };

  LinkGeometry geometry(const OutgoingKey& key) const;
  OutgoingKey key_of(const std::vector<int>& readers, int tag, int channel) const;
  void find_exchanges(const Schedule& schedule, const Program& program, const PlanFamily& family);
  std::map<int, Exchange*> untold_exchanges();
  void make_memory(const std::set<OutgoingKey>& keys);
  void tell(int reader, const std::set<OutgoingKey>& keys);
  void tell_remote(int reader, const std::set<OutgoingKey>& keys);
  RecvEnd* remote_recv_end(int peer, int tag, int channel);
  void make_end(const OutgoingKey& key, Outgoing& link);
  void reserve(size_t bytes, const char* what);
  /// The pool that is shared with `peer` in this family, if any; waits for the peer's announcement of it.
  LinkPool pool_with(int peer);
  bool wait_for(const std::function<bool()>& ready);
  Nic nic() const;
  bool on_other_emulated_host(int peer) const;

  const Settings settings_;
  // Used by the calling thread only.
  Session* session_ = nullptr;
  const SharedRegions* shared_ = nullptr;
  bool fenced_ = true;
  std::map<OutgoingKey, Outgoing> outgoing_;
  std::map<ExchangeKey, Exchange> exchanges_;
  std::map<int, std::set<uint64_t>> told_segments_;  // reader -> segments whose descriptor it has
  std::map<SegmentKey, std::map<std::pair<uint64_t, int>, std::unique_ptr<RecvEnd>>> recv_ends_;
  std::map<std::pair<int, uint32_t>, FromRemote> from_remote_;  // peer, what it calls the link
  size_t outgoing_bytes_ = 0;
  // The plan that is being made.
  uint64_t plan_key_ = 0, family_key_ = 0;
  Protocol protocol_ = Protocol::simple;
  int num_channels_ = 1;
  std::function<bool()> give_up_;
  // Shared with the monitor thread under the session's lock (Session::wait, Session::notify).
  std::map<SegmentKey, std::shared_ptr<Segment>> segments_;
  std::map<PlanLink, Incoming> incoming_;
  std::map<PlanLink, uint32_t> remote_incoming_;  // what the peer calls the link
  std::map<ExchangeKey, Place> announced_pools_;
};

}  // namespace ringtree
