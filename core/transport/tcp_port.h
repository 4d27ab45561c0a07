// The TCP side of one rank of a communicator: its streams to ranks of other hosts and the links over them. No thread of
// its own: whoever runs the rank's calls calls progress() while it waits, sleeps in sleep(), and leaves a call only
// once flush() has given everything to the kernel. Not for control: that the mesh has its own connections for.
//
// With several streams to a peer each message takes the next one that is free, so that one link uses all of them; the
// reader puts messages in order by their numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/transport/tcp_link.h"
#include "core/transport/tcp_stream.h"

namespace ringtree {

/// Why a peer can no longer be reached over its streams.
struct TcpFault {
  int peer = 0;
  std::string reason;    // of the stream
  bool corrupt = false;  // what came was damaged or nonsense
  int64_t at_ns = 0;     // when it was noticed
};

class TcpPort {
 public:
  /// `with_crc`: payloads carry a checksum. `wake`: ends a sleep() when it is readable (Doorbell::make_pollable()).
  /// Throws WorldError: out of descriptors.
  TcpPort(bool with_crc, Fd wake);
  ~TcpPort();
  TcpPort(const TcpPort&) = delete;
  TcpPort& operator=(const TcpPort&) = delete;

  /// Connected, non-blocking sockets to rank `peer`; at least one.
  void add_peer(int peer, std::vector<Fd> sockets);
  bool has_peer(int peer) const;

  /// A link of this rank's to a reader of another host (TcpOut's arguments). Returns its number.
  uint32_t add_out(int peer, std::byte* memory, const LinkGeometry& geometry, int reader_index, const SendEnd& end);
  /// The peer has made the other end of link `number` and gave it `peers_number`. From any thread. False: no such link.
  bool accept(int peer, uint32_t number, uint32_t peers_number);
  /// The reading end of a link that `peer` calls `peers_number`. Returns its own number, to be told to the peer.
  struct Incoming {
    uint32_t number = 0;
    TcpIn* link = nullptr;
  };
  Incoming add_in(int peer, const LinkGeometry& geometry, uint32_t peers_number);

  /// Sends what may leave and takes what has come, without waiting. True if anything moved.
  bool progress();
  /// From now on nothing is sent. For who takes back memory in which messages still lie (SendEnd::publish_from()).
  void stop_sending() { stopped_ = true; }
  /// Everything that was published is with the kernel.
  bool flushed() const;
  /// The same of what is for one rank. True if there are no streams to it.
  bool flushed(int peer) const;
  /// Waits until the kernel has something for progress(), the doorbell rings, or `until_ns` (CLOCK_MONOTONIC). May
  /// return early.
  void sleep(int64_t until_ns);

  /// Nothing more comes from `peer`: all its streams have ended, and what lay in them was taken. True if there are
  /// none.
  bool ended(int peer) const;
  /// The first stream to each peer that broke off, in the order in which they did.
  const std::vector<TcpFault>& faults() const { return faults_; }
  uint64_t bytes_sent() const;
  uint64_t bytes_received() const;

  enum class Closing : uint8_t {
    at_once,  // what a peer's kernel does not have yet may be taken back: drain() before, if it is still needed
    in_call,  // the same while another thread is in a call: the streams end, their descriptors stay as long as this
    copy,     // of a child that fork() made: the parent's streams go on
  };
  /// From the thread that closes the communicator; when no call is under way, or in_call. Idempotent.
  void close(Closing how);
  /// Waits, for some seconds at most, until the peers' kernels have everything that was sent. Unread bytes make the
  /// kernel reset a connection that is closed: what comes is read meanwhile. When no call is under way; after close()
  /// nothing.
  void drain();

 private:
  struct Peer final : TcpSink {
    int rank = 0;
    std::vector<std::unique_ptr<TcpStream>> streams;
    std::vector<std::unique_ptr<TcpOut>> outs;  // by number; grows under links_mutex_
    std::vector<std::unique_ptr<TcpIn>> ins;    // by number
    size_t next_out = 0, next_stream = 0;       // whose turn it is
    bool faulty = false;

    std::byte* room_for(const TcpFrame& frame) override;
    std::byte* room_of(const TcpFrame& frame) override;
    void deliver(const TcpFrame& frame) override;
    bool credit(const TcpFrame& frame) override;
  };

  Peer& peer(int rank);
  static bool flushed(const Peer& peer);
  bool send_to(Peer& peer);
  bool fill(Peer& peer, TcpStream& stream, size_t share);
  bool receive_from(Peer& peer);
  void look_at(Peer& peer, const TcpStream& stream);
  int wait_for_events(int timeout_ms);

  const bool with_crc_;
  Fd epoll_, wake_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> by_rank_;  // null: none
  size_t num_streams_ = 0;
  bool stopped_ = false;
  std::atomic<bool> closed_{false};
  mutable std::mutex links_mutex_;  // protects Peer::outs against accept()
  std::vector<TcpFault> faults_;
};

}  // namespace ringtree
