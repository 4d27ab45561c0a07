// Mesh: the control connections of one rank to all others of its communicator, over Unix sockets to ranks of its host
// and over TCP to the others: it finds them, carries small messages and descriptors (a link's memory, an abort), tells
// within milliseconds when a peer ends, and when each was last heard of. One per rank and communicator; several may
// live in one process (ranks as threads). Not for collective data, and it decides nothing: what an abort, a death or
// silence means is the engine's business.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/bootstrap/connect_remote.h"
#include "core/bootstrap/control_message.h"
#include "core/bootstrap/frame_reader.h"
#include "core/bootstrap/network.h"
#include "core/bootstrap/peer.h"
#include "core/bootstrap/rendezvous.h"
#include "core/bootstrap/store.h"

namespace ringtree {

/// Called by the mesh's one monitor thread, one call at a time, possibly before the constructor has returned and never
/// once close() is under way. They must not throw, wait long, or call close(); they may call send() with small
/// payloads.
struct MeshEvents {
  /// A link, abort or status message, in the order in which `peer` sent them. `fd`: the callee owns and closes it; -1:
  /// none came.
  std::function<void(int peer, ControlType type, std::string payload, int fd)> on_message;
  /// At most once a peer, after its last message. `said_bye`: it closed its mesh; otherwise its process ended, or it
  /// broke the protocol, or one of us ran out of descriptors.
  std::function<void(int peer, bool said_bye)> on_gone;
  /// Twice a second.
  std::function<void()> on_beat = {};
  /// This rank's status, for the bye; called by close().
  std::function<std::string()> last_status = {};
};

struct MeshOptions {
  /// Begins all keys in the store: new for each communicator.
  std::string prefix = "mesh";
  /// Must be equal on all ranks, at most kMaxSettingsBytes; opaque here. MismatchError on every rank otherwise.
  std::string settings = {};
  /// Used if ranks run on several hosts.
  Network network = {};
  /// Why all ranks must share one host, empty: they need not. The same on all ranks, as settings are.
  std::string why_one_host = {};
};

/// Between two calls of MeshEvents::on_beat.
inline constexpr int64_t kBeatNs = 500'000'000;

class Mesh {
 public:
  /// Meets the other ranks through `store`, which is not used afterwards, and connects to each. With a world size of 1
  /// there are no sockets, no thread and no use of the store. TimeoutError, PeerError: name the ranks that did not come
  /// or ended; MismatchError: settings, world size or version differ; UsageError: bad rank, several users on one host,
  /// two processes with one rank, or several hosts and no way between them (own_rails()); WorldError: out of
  /// descriptors. Where a rank refuses, the others are told why (Rendezvous): PeerError, or its own MismatchError or
  /// TimeoutError.
  Mesh(Store& store, int rank, int world_size, Deadline deadline, MeshEvents events, MeshOptions options = {});
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  /// Sends one link, abort or status message to `peer`; from any thread. `fd` stays the caller's, the peer, which must
  /// be on this host, gets a duplicate.
  /// False: the peer is gone, or took nothing for 2 s (another sender to it may add its own 2 s), or close() was
  /// called. When a part of the message had left by then, the connection is ended and both sides report a peer gone.
  /// A status waits for nothing: where the kernel takes nothing it is left out, since a newer one will come, and what
  /// it took a part of goes on with the next message.
  ///
  /// UsageError: no such peer, a type that is the mesh's own, a payload above kMaxControlPayloadBytes, or forked().
  bool send(int peer, ControlType type, std::string_view payload, int fd = -1);

  const PeerIdentity& peer(int rank) const { return identities_.at(static_cast<size_t>(rank)); }
  /// By rank, the number of its host, as hosts_of().
  const std::vector<int>& hosts() const { return hosts_; }
  bool is_remote(int rank) const {
    return hosts_.at(static_cast<size_t>(rank)) != hosts_.at(static_cast<size_t>(rank_));
  }
  /// Those of take_streams(), until they are taken.
  std::vector<int> streams_to(int rank) const;
  /// The connected sockets for data to a rank of another host; to be taken once.
  std::vector<Fd> take_streams(int rank) { return std::move(streams_.at(static_cast<size_t>(rank))); }
  /// An own address that ranks of other hosts reach, without a port; none if all share this host.
  const std::optional<Address>& own_address() const { return own_address_; }
  /// When something was last heard from `peer` (now_ns()); for this rank itself 0. From any thread.
  int64_t heard_ns(int peer) const {
    const Peer* from = peers_.empty() ? nullptr : peers_[static_cast<size_t>(peer)].get();
    return from ? from->heard_ns.load(std::memory_order_relaxed) : 0;  // a time, it publishes nothing
  }
  /// Something of `peer` lies in its socket or is being delivered, or that can't be told just now. Once it is false all
  /// that had reached this host before the call is with the events. From any thread.
  bool has_unread(int peer) const;
  int rank() const { return rank_; }
  int world_size() const { return static_cast<int>(identities_.size()); }

  /// True in a child that fork() made after this mesh: there send() throws and close() only closes the child's copies,
  /// so that a child which ends changes nothing for the peers. Death of the parent itself is seen through its pid
  /// (pidfd) even while such a child keeps the sockets open; where the pid is not visible (other pid namespace, kernel
  /// before 5.3) it is seen only once the children are gone too.
  bool forked() const;

  /// Says bye to all peers, ends the monitor thread and closes everything; waits at most 0.2 s for a peer that does not
  /// read. From any thread but the monitor's; further calls do nothing.
  void close();

 private:
  struct Peer {
    Fd socket;   // stays open until close(), also when the peer is gone: no other thread may meet a reused number
    Fd process;  // pidfd; not valid where there is none
    FrameReader reader;
    std::mutex sending;  // held for one whole frame: protects the order of bytes on `socket`, and `rest`
    std::string rest;    // of a status of which the kernel took a part
    std::atomic<bool> gone{false};
    std::atomic<int64_t> heard_ns{0};
    std::atomic<bool> reading{false};  // the monitor may hold what it has not delivered yet
  };

  /// Where others may notice during the meeting that this rank goes.
  struct Doors {
    Fd listener;
    RemoteListeners remote;
    std::vector<Fd> sockets;  // to ranks of this host
    RemoteSockets made;       // to the others
  };
  void meet(Rendezvous& rendezvous, bool may_span_hosts, const MeshOptions& options, Deadline deadline, Doors& doors);
  void watch();
  void beat_if_due(int64_t& next_ns);
  void read(int peer, int max_reads);
  void await_bye_of_remote(Deadline deadline);
  bool deliver(int peer, std::vector<ControlMessage>& messages);
  void set_gone(int peer, bool said_bye);
  // `cancelled`: set when the frame must not be sent any more; none for the bye.
  bool send_frame(Peer& peer, std::string_view frame, int fd, Deadline deadline, const std::atomic<bool>* cancelled);
  bool send_status(Peer& peer, std::string_view frame);

  const pid_t owner_pid_;
  const int rank_;
  MeshEvents events_;
  std::vector<PeerIdentity> identities_;
  std::vector<int> hosts_;
  std::vector<std::vector<Fd>> streams_;  // by rank
  std::optional<Address> own_address_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; none at our own place
  Fd stop_;
  std::atomic<bool> closing_{false};
  std::mutex close_mutex_;  // protects monitor_, and makes a second close() wait for the first
  std::thread monitor_;
};

}  // namespace ringtree
